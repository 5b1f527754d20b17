// Which plans can be carried out over steps.
#pragma once

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, naming the setting, for settings of steps, states and decoding that do not fit
/// each other, the runners, or other settings of the run.
Status CheckSteps(const RunPlan& plan);

}  // namespace vernier
