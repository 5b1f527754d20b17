// `--model-runner`, and the backend of a runner that is a path: models that are scripts or
// programs.
#pragma once

#include <string>
#include <string_view>

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Is the word `SCRIPT.py`, or `SCRIPT.py:FUNCTION`?
bool IsPythonScript(std::string_view word);

/// Is the word the path of a program, and no backend's name?
bool IsProgramPath(std::string_view word);

/// Binds the value of --model-runner: `SCRIPT.py[:FUNCTION]`, whose functions the Python worker
/// calls, or `PROGRAM [ARGUMENTS]`. A Python script that defines neither `load` nor `infer` is a
/// program. kMalformed when there is no such file, kInvalidArgument for an empty value.
Status BindModelRunner(const std::string& value, RunnerPlan& runner);

/// The file's name without folder and extension, for the runner's name.
std::string ModelRunnerStem(const RunnerPlan& runner);

}  // namespace vernier
