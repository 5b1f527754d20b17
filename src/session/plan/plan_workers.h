// Which plans can have several workers for each runner.
#pragma once

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, naming the setting, for an invalid number of workers, and, with several of
/// them, for whatever needs iterations to be inferred one after another.
Status CheckWorkers(const RunPlan& plan);

}  // namespace vernier
