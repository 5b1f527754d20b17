// --python within --runner: two versions of a framework side by side.
#pragma once

#include <string>

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Gives a runner whose other options are chosen an interpreter of its own: a backend that Python
/// serves runs in it, and a framework's plug-in takes the library of its environment and no other.
/// `library_named`: the runner's own words name that library too. kUnavailable: there is no such
/// program; kInvalidArgument: nothing of the runner is of Python, or its library is named as well.
Status UseOwnPython(const std::string& python, bool library_named, RunnerPlan& runner);

/// That interpreter; empty: it has none of its own.
std::string OwnPython(const RunnerPlan& runner);

}  // namespace vernier
