// From parsed flags to what is compared and how.
#pragma once

#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What options of the comparison mean for each other, once each of them is bound.
/// kInvalidArgument, naming the flags, for those that leave each other nothing to say; thresholds
/// of functions that do not run are warned of.
Status BindCompare(const ParsedArgs& args, RunPlan& plan, Logger& logger);

/// Whether --check-average goes with the other options; kInvalidArgument, naming flags, otherwise.
Status CheckAverageFlags(const CompareOptions& options);

}  // namespace vernier
