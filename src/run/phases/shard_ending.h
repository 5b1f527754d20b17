// The end of a shard: its part is whole, or there is none.
#pragma once

#include "run/live/inference_scheduler.h"
#include "run/phases/ending.h"
#include "run/phases/live_results.h"
#include "run/phases/run_context.h"
#include "run/phases/sides.h"

namespace vernier {

/// Whether everything was done that was asked for, whatever came of the comparisons: of the exit
/// codes only 1 and 4 are left.
bool IsDone(const RunFaults& faults);

/// The same of a shard that has come to its end: what it has made may be published.
bool IsWholeShard(const RunEnding& ending);

/// Of a whole shard, before anything of it is published: an error for what keeps it from being
/// merged, after which it is not whole. These are saved outputs with other numbers of iterations,
/// outputs that were paired by their values, and files that were changed meanwhile.
Status CheckMergeable(const RunPlan& plan, const LiveResults& made, const Comparing& comparing);

/// Puts the part in its place, once the record has its pairs. Of a shard that is not whole there is
/// none, as a warning says, with what stays of its saved tensors. After CheckMergeable().
void PublishShard(const RunContext& run, const InferenceScheduler& live, const LiveResults& made,
                  const Comparing& comparing, RunEnding& ending);

}  // namespace vernier
