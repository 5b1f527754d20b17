#include "run/workers/worker_pool.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "backend/known/python_program.h"
#include "run/workers/runner_devices.h"

namespace vernier {
namespace {

std::string SharingKey(const RunnerPlan& runner, bool alone) {
  std::string key = runner.backend;
  for (const auto& [name, value] : runner.backend_options) key += '\0' + name + '=' + value;
  // Modules of one script must not meet those of another, nor its crash.
  if (alone || ServedByPython(runner)) key += '\0' + runner.name;
  return key;
}

}  // namespace

bool MayMoveToPython(const RunnerPlan& runner) {
  const bool named = std::any_of(runner.backend_options.begin(), runner.backend_options.end(),
                                 [](const auto& option) { return option.first == "lib"; });
  const bool plugin_first = IsPluginOrPython(runner.backend) && !IsPythonBackend(runner.backend);
  return plugin_first && runner.place == RunnerPlace::kAuto && !named;
}

Result<std::shared_ptr<Worker>> WorkerPool::Get(const RunnerPlan& runner, size_t copy) {
  const bool alone = plan_.use_subprocess || plan_.parallel || plan_.WorkersOfRunner() > 1 ||
                     plan_.batch_feeds > 1;
  std::string key = SharingKey(runner, alone);
  if (copy > 0) key += '\0' + std::to_string(copy);
  RunnerPlan placed = runner;
  if (const std::optional<std::string> device = DeviceVariable(plan_, copy)) {
    key += '\0' + *device;
    placed.environment.push_back(*device);
  }
  std::weak_ptr<Worker>& slot = workers_[key];
  if (std::shared_ptr<Worker> kept = FindKept(key); kept != nullptr) slot = kept;
  // One that died is of no use to anybody, though somebody may hold it still.
  if (std::shared_ptr<Worker> running = slot.lock(); running && running->death().ok()) {
    return running;
  }
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, source().StartFor(placed));
  slot = worker;
  // What the caller serves itself, it need not keep.
  if (caller_ != nullptr && caller_->kept_workers != nullptr && !ServedByCaller(runner)) {
    (*caller_->kept_workers)[key] = worker;
  }
  return worker;
}

std::shared_ptr<Worker> WorkerPool::FindKept(const std::string& key) const {
  if (caller_ == nullptr || caller_->kept_workers == nullptr) return nullptr;
  const auto found = caller_->kept_workers->find(key);
  return found == caller_->kept_workers->end() ? nullptr : found->second;
}

std::vector<LoadedModule> WorkerPool::LoadedModules() const {
  std::set<std::shared_ptr<Worker>> workers = {scripts_};
  for (const auto& [key, worker] : workers_) workers.insert(worker.lock());
  std::set<LoadedModule> all;
  for (const std::shared_ptr<Worker>& worker : workers) {
    if (worker == nullptr || worker->serves_plugin() || !worker->death().ok()) continue;
    const Result<std::vector<LoadedModule>> modules = ListLoadedModules(*worker);
    if (modules.ok()) all.insert(modules->begin(), modules->end());
  }
  return {all.begin(), all.end()};
}

Result<std::shared_ptr<Worker>> WorkerPool::GetForScripts() {
  if (scripts_ == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(scripts_, source().StartForScripts());
  }
  return scripts_;
}

}  // namespace vernier
