// The user's Python interpreter and the files that it runs for us.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// The interpreter: `given` (a path, or a name on PATH), else that of $VIRTUAL_ENV, else `python3`
/// on PATH. kUnavailable, saying what was looked for, when there is none.
Result<std::string> FindPython(const std::string& given);

/// WorkerOptions::program for a Python worker: the interpreter with worker.py, which lies in
/// ../libexec/vernier of the executable's folder, in a build tree as in an installed one.
/// kUnavailable as FindPython, and when the installation lacks its Python part.
Result<std::vector<std::string>> PythonWorkerProgram(const std::string& given);

/// The key among a runner's backend options of an interpreter of its own, beside the run's.
inline constexpr std::string_view kOwnPython = "own_python";

/// Is the backend of this name served by the Python worker?
bool IsPythonBackend(std::string_view backend);

}  // namespace vernier
