#include "run/worker_pool.h"

#include <algorithm>

#include "backend/backend_path.h"
#include "backend/python_program.h"

namespace vernier {
namespace {

bool InPython(const RunnerPlan& runner) {
  if (runner.place == RunnerPlace::kAuto) return IsPythonBackend(runner.backend);
  return runner.place == RunnerPlace::kPython;
}

bool IsCallers(const RunnerPlan& runner) {
  return std::any_of(runner.backend_options.begin(), runner.backend_options.end(),
                     [](const auto& option) { return option.first == kServedByCaller; });
}

std::string SharingKey(const RunnerPlan& runner, bool alone) {
  std::string key = runner.backend;
  for (const auto& [name, value] : runner.backend_options) key += '\0' + name + '=' + value;
  // Modules of one script must not meet those of another, nor its crash.
  if (alone || InPython(runner)) key += '\0' + runner.name;
  return key;
}

}  // namespace

bool MayMoveToPython(const RunnerPlan& runner) {
  const bool named = std::any_of(runner.backend_options.begin(), runner.backend_options.end(),
                                 [](const auto& option) { return option.first == "lib"; });
  return runner.backend == "tensorrt" && runner.place == RunnerPlace::kAuto && !named;
}

Result<std::shared_ptr<Worker>> WorkerPool::Get(const RunnerPlan& runner) {
  const std::string key = SharingKey(runner, plan_.use_subprocess || plan_.parallel);
  std::weak_ptr<Worker>& slot = workers_[key];
  if (std::shared_ptr<Worker> kept = FindKept(key); kept != nullptr) slot = kept;
  // One that died is of no use to anybody, though somebody may hold it still.
  if (std::shared_ptr<Worker> running = slot.lock(); running && running->death().ok()) {
    return running;
  }
  LoadRequest load{{}, runner.backend_options};
  std::vector<std::string> program;
  if (IsCallers(runner)) {
    VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, StartAtCaller());
    slot = worker;
    return worker;
  }
  if (InPython(runner)) {
    std::string python = plan_.python;
    for (const auto& [name, value] : runner.backend_options) {
      if (name == kOwnPython) python = value;
    }
    VERNIER_ASSIGN_OR_RETURN(program, PythonWorkerProgram(python));
  } else {
    auto found = FindBackend(runner.backend, BackendSearchPath(plan_.backend_dirs));
    if (!found.ok() && runner.backend == "torch") {
      return Unavailable(
          found.status().message() +
          ": it was built without PyTorch; where --torch-in plugin and --torch-lib are "
          "left out, Python runs it");
    }
    VERNIER_ASSIGN_OR_RETURN(load.plugin_paths, std::move(found));
  }
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker,
                           Start(std::move(load), std::move(program), runner.backend == "python"));
  slot = worker;
  if (caller_ != nullptr && caller_->kept_workers != nullptr) {
    (*caller_->kept_workers)[key] = worker;
  }
  return worker;
}

std::shared_ptr<Worker> WorkerPool::FindKept(const std::string& key) const {
  if (caller_ == nullptr || caller_->kept_workers == nullptr) return nullptr;
  const auto found = caller_->kept_workers->find(key);
  return found == caller_->kept_workers->end() ? nullptr : found->second;
}

bool WorkerPool::HasPluginToo(const RunnerPlan& runner) const {
  return IsPythonBackend(runner.backend) &&
         FindBackend(runner.backend, BackendSearchPath(plan_.backend_dirs)).ok();
}

Result<std::shared_ptr<Worker>> WorkerPool::GetForScripts() {
  if (scripts_ != nullptr) return scripts_;
  if (caller_ != nullptr && caller_->serves_scripts) {
    VERNIER_ASSIGN_OR_RETURN(scripts_, StartAtCaller());
    return scripts_;
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> program, PythonWorkerProgram(plan_.python));
  VERNIER_ASSIGN_OR_RETURN(scripts_, Start({}, std::move(program), true));
  return scripts_;
}

Result<std::shared_ptr<Worker>> WorkerPool::StartAtCaller() {
  WorkerOptions options;
  if (caller_ != nullptr && caller_->connect) options.served.Reset(caller_->connect());
  if (!options.served.valid()) return Internal("the calling program serves no objects");
  options.timeout_s = plan_.timeout_s;
  options.interrupted = &interrupted_;
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker,
                           Worker::Start(std::move(options), logger_));
  return std::shared_ptr<Worker>(std::move(worker));
}

Result<std::shared_ptr<Worker>> WorkerPool::Start(LoadRequest load,
                                                  std::vector<std::string> program,
                                                  bool speaks_for_user) {
  WorkerOptions options;
  options.load = std::move(load);
  options.speaks_for_user = speaks_for_user || passes_on_words_;
  options.in_process = plan_.in_process && program.empty();
  options.program = std::move(program);
  options.environment = plan_.environment;
  options.timeout_s = plan_.timeout_s;
  options.interrupted = &interrupted_;
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker,
                           Worker::Start(std::move(options), logger_));
  return std::shared_ptr<Worker>(std::move(worker));
}

}  // namespace vernier
