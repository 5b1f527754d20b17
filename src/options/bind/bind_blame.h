// From a parsed command line to how blame searches.
#pragma once

#include "blame/graph/blame_plan.h"
#include "options/bind/bind_run.h"

namespace vernier {

/// `run` is what the same command line means for a run. kInvalidArgument, naming the flag.
Result<BlameOptions> BindBlame(const ParsedArgs& args, const RunPlan& run);

/// The whole plan of `blame`. kInvalidArgument, naming the flag, and as BindRun; not as CheckRun.
Result<BlamePlan> BindBlamePlan(const ParsedArgs& args, const Invocation& invocation, Logger& log);

}  // namespace vernier
