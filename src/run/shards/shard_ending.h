// The end of a shard: its part is whole, or there is none.
#pragma once

#include "run/live/live_runs.h"
#include "run/phases/ending.h"
#include "run/phases/live_results.h"
#include "run/phases/run_context.h"
#include "run/phases/sides.h"

namespace vernier {

/// Whether everything was done that was asked for, whatever came of the comparisons: of the exit
/// codes only 1 and 4 are left.
bool IsDone(const RunFaults& faults);

/// Puts the part in its place, once the record has its pairs. Of a shard that failed or was
/// interrupted there is none, as a warning says. What keeps a shard from being merged (saved
/// outputs with other numbers of iterations, outputs that were paired by their values) is an error.
void PublishShard(const RunContext& run, const LiveRuns& live, const LiveResults& made,
                  const Comparing& comparing, RunEnding& ending);

}  // namespace vernier
