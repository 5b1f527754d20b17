#include "run/runner/own_python.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "backend/onnx_runtimes.h"
#include "backend/python_program.h"
#include "run/workers/worker_source.h"

namespace vernier {
namespace {

// Plug-ins that take their framework out of a Python environment, as "lib" of their options.
constexpr std::string_view kOfEnvironment[] = {"onnxruntime", "tensorflow", "torch"};

}  // namespace

std::string OwnPython(const RunnerPlan& runner) {
  for (const auto& [name, value] : runner.backend_options) {
    if (name == kOwnPython) return value;
  }
  return {};
}

Status UseOwnPython(const std::string& python, bool library_named, RunnerPlan& runner) {
  VERNIER_ASSIGN_OR_RETURN(const std::string program, FindPython(python));
  runner.backend_options.emplace_back(kOwnPython, program);
  // Those that have both would else be their plug-in's first.
  const bool has_both = runner.backend == "tensorrt" || runner.backend == "torch";
  if (has_both && runner.place == RunnerPlace::kAuto) runner.place = RunnerPlace::kPython;
  if (ServedByPython(runner)) return {};
  if (!IsOnnxRuntime(runner.backend) &&
      std::find(std::begin(kOfEnvironment), std::end(kOfEnvironment), runner.backend) ==
          std::end(kOfEnvironment)) {
    return InvalidArgument("--python: the backend '" + runner.backend +
                           "' takes nothing of Python; leave it out");
  }
  if (library_named) {
    return InvalidArgument("--python and a library name two places of '" + runner.backend +
                           "'; give one of them");
  }
  const std::filesystem::path folder = std::filesystem::absolute(program).parent_path();
  std::erase_if(runner.backend_options, [](const auto& option) { return option.first == "lib"; });
  runner.backend_options.emplace_back("lib", folder.parent_path().string());
  return {};
}

}  // namespace vernier
