#include "run/worker_pool.h"

#include "backend/backend_path.h"

namespace vernier {
namespace {

std::string SharingKey(const RunnerPlan& runner, bool alone) {
  std::string key = runner.backend;
  for (const auto& [name, value] : runner.backend_options) key += '\0' + name + '=' + value;
  if (alone) key += '\0' + runner.name;
  return key;
}

}  // namespace

Result<std::shared_ptr<Worker>> WorkerPool::Get(const RunnerPlan& runner) {
  std::weak_ptr<Worker>& slot = workers_[SharingKey(runner, plan_.use_subprocess)];
  if (std::shared_ptr<Worker> running = slot.lock()) return running;
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> plugins,
                           FindBackend(runner.backend, BackendSearchPath(plan_.backend_dirs)));
  WorkerOptions options;
  options.load = {std::move(plugins), runner.backend_options};
  options.in_process = plan_.in_process;
  options.timeout_s = plan_.timeout_s;
  options.interrupted = &interrupted_;
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker,
                           Worker::Start(std::move(options), logger_));
  std::shared_ptr<Worker> shared = std::move(worker);
  slot = shared;
  return shared;
}

}  // namespace vernier
