// --gen-script FILE: the command line as a Python script against Polygraphy's API.
#pragma once

#include <string>

#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// A script that runs under Polygraphy 0.53 and does what the plan does. kUnimplemented, naming the
/// flag, for what that API does not have: never a script that does less.
Result<std::string> WritePythonScript(const RunPlan& plan, const ParsedArgs& args,
                                      const Invocation& invocation);

}  // namespace vernier
