#include "cli/own_python.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "backend/python_program.h"

namespace vernier {
namespace {

struct EnvironmentLibrary {
  std::string_view backend;
  std::string_view dest;  // of the option that names the library
};

// Plug-ins that take their framework out of a Python environment, as "lib" of their options.
constexpr EnvironmentLibrary kEnvironmentLibraries[] = {
    {"onnxruntime", "onnxrt_lib"},
    {"openvino", "openvino_lib"},
    {"tensorflow", "tf_lib"},
    {"torch", "torch_lib"},
};

bool IsServedInPython(const RunnerPlan& runner) {
  if (runner.place == RunnerPlace::kAuto) return IsPythonBackend(runner.backend);
  return runner.place == RunnerPlace::kPython;
}

}  // namespace

std::string OwnPython(const RunnerPlan& runner) {
  for (const auto& [name, value] : runner.backend_options) {
    if (name == kOwnPython) return value;
  }
  return {};
}

Status BindOwnPython(const ParsedArgs& own, const std::string& where, RunnerPlan& runner) {
  const auto given = own.Value("python");
  if (!given) return {};
  const Result<std::string> program = FindPython(std::string(*given));
  if (!program.ok()) return Status(program.status().code(), where + program.status().message());
  runner.backend_options.emplace_back(kOwnPython, *program);
  // Those that have both would else be their plug-in's first.
  const bool has_both = runner.backend == "tensorrt" || runner.backend == "torch";
  if (has_both && runner.place == RunnerPlace::kAuto) runner.place = RunnerPlace::kPython;
  if (IsServedInPython(runner)) return {};
  const auto* const end = std::end(kEnvironmentLibraries);
  const auto* const library =
      std::find_if(std::begin(kEnvironmentLibraries), end,
                   [&](const EnvironmentLibrary& l) { return l.backend == runner.backend; });
  if (library == end) {
    return InvalidArgument(where + "--python: the backend '" + runner.backend +
                           "' takes nothing of Python; leave it out");
  }
  if (own.Has(library->dest)) {
    return InvalidArgument(where + "--python and a library name two places of '" + runner.backend +
                           "'; give one of them");
  }
  const std::filesystem::path folder = std::filesystem::absolute(*program).parent_path();
  std::erase_if(runner.backend_options, [](const auto& option) { return option.first == "lib"; });
  runner.backend_options.emplace_back("lib", folder.parent_path().string());
  return {};
}

}  // namespace vernier
