// From a parsed command line to the plan of blame.
#pragma once

#include "blame/blame_plan.h"
#include "cli/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// `run` is what the same command line means for a run. kInvalidArgument, naming the flag.
Result<BlamePlan> BindBlame(const ParsedArgs& args, RunPlan run);

}  // namespace vernier
