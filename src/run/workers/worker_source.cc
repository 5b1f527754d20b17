#include "run/workers/worker_source.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "backend/known/backend_path.h"
#include "backend/known/python_program.h"

namespace vernier {

namespace {

// The environment of an interpreter, which is in its folder `bin`.
std::string EnvironmentOf(const std::string& python) {
  return std::filesystem::absolute(python).parent_path().parent_path().string();
}

}  // namespace

bool ServedByPython(const RunnerPlan& runner) {
  if (runner.place == RunnerPlace::kAuto) return IsPythonBackend(runner.backend);
  return runner.place == RunnerPlace::kPython;
}

bool ServedByCaller(const RunnerPlan& runner) {
  return std::any_of(runner.backend_options.begin(), runner.backend_options.end(),
                     [](const auto& option) { return option.first == kServedByCaller; });
}

Result<std::unique_ptr<Worker>> StartedWorkers::StartFor(const RunnerPlan& runner) {
  if (ServedByCaller(runner)) return StartAtCaller();
  if (ServedByPython(runner)) return StartInPython(runner);
  auto found = FindBackend(runner.backend, BackendSearchPath(plan_.backend_dirs));
  if (!found.ok() && IsPluginOrPython(runner.backend) && IsPythonBackend(runner.backend)) {
    return Unavailable(found.status().message() +
                       ": it was built without PyTorch; where --torch-in plugin and --torch-lib "
                       "are left out, Python runs it");
  }
  LoadRequest load{{}, runner.backend_options};
  for (auto& [key, value] : load.options) {
    if (key != kOwnPython) continue;
    key = kLibraryPlace;
    value = EnvironmentOf(value);
  }
  VERNIER_ASSIGN_OR_RETURN(load.plugin_paths, std::move(found));
  return Start(std::move(load), {}, runner.backend == "python", runner.environment);
}

Result<std::unique_ptr<Worker>> StartedWorkers::StartInPython(const RunnerPlan& runner) {
  std::string python = plan_.python;
  for (const auto& [name, value] : runner.backend_options) {
    if (name == kOwnPython) python = value;
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> program, PythonWorkerProgram(python));
  return Start({{}, runner.backend_options}, std::move(program), runner.backend == "python",
               runner.environment);
}

Result<std::unique_ptr<Worker>> StartedWorkers::StartForScripts() {
  if (caller_ != nullptr && caller_->serves_scripts) return StartAtCaller();
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> program, PythonWorkerProgram(plan_.python));
  return Start({}, std::move(program), true);
}

bool StartedWorkers::HasPluginToo(const RunnerPlan& runner) const {
  return IsPythonBackend(runner.backend) &&
         FindBackend(runner.backend, BackendSearchPath(plan_.backend_dirs)).ok();
}

Result<std::unique_ptr<Worker>> StartedWorkers::StartAtCaller() {
  WorkerOptions options;
  if (caller_ != nullptr && caller_->connect) options.served.Reset(caller_->connect());
  if (!options.served.valid()) return Internal("the calling program serves no objects");
  options.timeout_s = plan_.timeout_s;
  options.interrupted = &interrupted_;
  return Worker::Start(std::move(options), logger_);
}

Result<std::unique_ptr<Worker>> StartedWorkers::Start(LoadRequest load,
                                                      std::vector<std::string> program,
                                                      bool speaks_for_user,
                                                      const std::vector<std::string>& environment) {
  WorkerOptions options;
  options.load = std::move(load);
  options.speaks_for_user = speaks_for_user || words_ == FrameworkWords::kPassedOn;
  options.in_process = plan_.in_process && program.empty();
  options.program = std::move(program);
  options.environment = plan_.environment;
  options.environment.insert(options.environment.end(), environment.begin(), environment.end());
  options.timeout_s = plan_.timeout_s;
  options.interrupted = &interrupted_;
  return Worker::Start(std::move(options), logger_);
}

}  // namespace vernier
