#include "backend/known/python_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>

#include "util/process/own_program.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

using PluginTurn = PythonRunner::Plugin;

constexpr PythonRunner kRunners[] = {
    {.backend = "python", .module = "", .formats = "*", .has_methods = true},
    {.backend = "onnxref", .module = "onnx", .formats = "onnx"},
    {"torch", "torch", "", PluginTurn::kAfterPython},
    {.backend = "keras", .module = "keras", .formats = ""},
    {.backend = "tf2onnx", .module = "tf2onnx", .formats = ""},
    {"tensorrt", "tensorrt", "", PluginTurn::kBeforePython},
};

constexpr std::string_view kHowToName = "; --python names an interpreter";

std::optional<std::string> Executable(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0) return path.string();
  return std::nullopt;
}

std::optional<std::string> OnPath(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path folder = colon == 0 ? "." : fs::path(rest.substr(0, colon));
    if (auto found = Executable(folder / name)) return found;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> FindPython(const std::string& given) {
  if (!given.empty()) {
    const bool is_path = given.find('/') != std::string::npos;
    if (auto found = is_path ? Executable(given) : OnPath(given)) return *found;
    return Unavailable("--python: there is no program '" + given + "'");
  }
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (environment != nullptr && *environment != '\0') {
    const fs::path folder = fs::path(environment) / "bin";
    for (const char* name : {"python3", "python"}) {
      if (auto found = Executable(folder / name)) return *found;
    }
    return Unavailable("VIRTUAL_ENV is '" + std::string(environment) +
                       "', which has no bin/python3" + std::string(kHowToName));
  }
  if (auto found = OnPath("python3")) return *found;
  return Unavailable("there is no Python: VIRTUAL_ENV is not set and PATH has no python3" +
                     std::string(kHowToName));
}

Result<std::vector<std::string>> PythonWorkerProgram(const std::string& given) {
  VERNIER_ASSIGN_OR_RETURN(std::string python, FindPython(given));
  std::error_code error;
  const fs::path script = OwnPrefix() / "libexec/vernier/worker.py";
  if (!fs::exists(script, error)) {
    return Unavailable("this installation lacks its Python part: there is no '" + script.string() +
                       "'");
  }
  return std::vector<std::string>{std::move(python), script.string()};
}

std::span<const PythonRunner> PythonRunners() { return kRunners; }

const PythonRunner* FindPythonRunner(std::string_view backend) {
  const auto* const found = std::ranges::find(kRunners, backend, &PythonRunner::backend);
  return found == std::end(kRunners) ? nullptr : found;
}

bool IsPythonBackend(std::string_view backend) {
  const PythonRunner* const runner = FindPythonRunner(backend);
  return runner != nullptr && runner->plugin != PythonRunner::Plugin::kBeforePython;
}

std::string TakesNothingOfPython(std::string_view backend) {
  return "--python: the backend '" + std::string(backend) +
         "' takes nothing of Python; leave it out";
}

bool IsPluginOrPython(std::string_view backend) {
  const PythonRunner* const runner = FindPythonRunner(backend);
  return runner != nullptr && runner->plugin != PythonRunner::Plugin::kNone;
}

}  // namespace vernier
