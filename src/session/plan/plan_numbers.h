// The numbers of a plan, whoever made it.
#pragma once

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, naming the setting and the value, for a number that the command line would
/// refuse. A lenient plan may have counts below 0, as on the command line.
Status CheckPlanNumbers(const RunPlan& plan);

}  // namespace vernier
