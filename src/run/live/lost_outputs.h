// Outputs that inferences have made, and that are no tensors.
#pragma once

#include <string_view>

#include "run/executor.h"
#include "run/live/live_runs.h"

namespace vernier {

/// A fault for each such output, and for every pair with its runner, whose other outputs may agree.
/// None where tensors were marked: what was asked for is there then. `what` was not done to them:
/// "compared". To be called once the pairs are in the record.
void NoteLostOutputs(const LiveRuns& live, std::string_view what, RunOutcome& outcome);

}  // namespace vernier
