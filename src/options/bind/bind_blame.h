// From a parsed command line to how blame searches.
#pragma once

#include "options/words/arg_parser.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// `run` is what the same command line means for a run. kInvalidArgument, naming the flag.
Result<BlameOptions> BindBlame(const ParsedArgs& args, const RunPlan& run);

}  // namespace vernier
