// Outputs that inferences have made, and that are no tensors.
#pragma once

#include "run/executor.h"
#include "run/live/live_runs.h"
#include "vernier/run_plan.h"

namespace vernier {

/// A fault for each such output, and for every pair with its runner, whose other outputs may agree:
/// of a run that was to compare, to validate or to save them. None where tensors were marked: what
/// was asked for is there then. To be called once the pairs are in the record.
void NoteLostOutputs(const RunPlan& plan, const LiveRuns& live, RunOutcome& outcome);

}  // namespace vernier
