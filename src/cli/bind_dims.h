// Sizes of dimensions by name, of the run and of its runners.
#pragma once

#include "cli/arg_parser.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Fills plan.inputs.dims with those of --dim and of the plan's runners, which all have the same
/// feeds, and gives them to the runners. kInvalidArgument for one name with two sizes.
Status BindDims(const ParsedArgs& args, RunPlan& plan, Logger& logger);

}  // namespace vernier
