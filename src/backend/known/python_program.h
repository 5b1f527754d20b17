// The user's Python interpreter and the files that it runs for us.
#pragma once

#include <cstdint>
#include <span>
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

/// A runner of libexec/vernier/runners, or of a script.
struct PythonRunner {
  /// Is there a plug-in of the same name, and who is asked first?
  enum class Plugin : uint8_t { kNone, kAfterPython, kBeforePython };

  std::string_view backend;
  std::string_view module;   ///< looked for before anything is opened; its version is reported
  std::string_view formats;  ///< as vn_backend_api::model_formats; its plug-in's where it has one
  Plugin plugin = Plugin::kNone;
  bool has_methods = false;  ///< of which --reset names one
};

std::span<const PythonRunner> PythonRunners();
/// Null: Python does not serve it.
const PythonRunner* FindPythonRunner(std::string_view backend);

/// Is the backend of this name served by the Python worker, unless its plug-in is asked for?
bool IsPythonBackend(std::string_view backend);

/// What --python is answered for a plug-in without an option for the place of its library.
std::string TakesNothingOfPython(std::string_view backend);

/// Does it have a plug-in as well as a module that Python serves it with?
bool IsPluginOrPython(std::string_view backend);

}  // namespace vernier
