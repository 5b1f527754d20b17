// --python within --runner: two versions of a framework side by side.
#pragma once

#include <string>

#include "cli/arg_parser.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Gives a runner the interpreter that its own words name, whose other options are bound: a backend
/// that Python serves runs in it, and a framework's plug-in takes the library of its environment
/// and no other. `where` begins each message. kUnavailable: there is no such program;
/// kInvalidArgument: nothing of the runner is of Python, or its library is named as well.
Status BindOwnPython(const ParsedArgs& own, const std::string& where, RunnerPlan& runner);

/// That interpreter; empty: it has none of its own.
std::string OwnPython(const RunnerPlan& runner);

}  // namespace vernier
