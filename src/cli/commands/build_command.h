// The command line that builds an engine.
#pragma once

#include <string>
#include <vector>

#include "vernier/run_plan.h"

namespace vernier {

/// `vernier convert MODEL ... -o OUTPUT` with the runner's options, these precisions of layers and
/// timings from this file, if it has a name.
std::string BuildCommand(const RunnerPlan& runner, const std::vector<std::string>& layers,
                         const std::string& timings, const std::string& output);

}  // namespace vernier
