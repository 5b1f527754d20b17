// The workers of a run: one for each framework, or one for each runner with --use-subprocess.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/worker/loaded_modules.h"
#include "backend/worker/worker.h"
#include "run/workers/embedder.h"
#include "run/workers/worker_source.h"
#include "util/log/log.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

/// May the user's Python serve this runner where its plug-in is missing or does not fit what is
/// installed? So TensorRT's, unless the library was named.
bool MayMoveToPython(const RunnerPlan& runner);

class WorkerPool {
 public:
  /// `interrupted` is set by a signal handler; it must outlive the pool, and so must `plan`,
  /// `logger` and `caller` (may be null). Workers come from `caller->workers` where it has them,
  /// else they are started: then `words` says what becomes of what frameworks print.
  WorkerPool(const ExecutionPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
             const Embedder* caller = nullptr, FrameworkWords words = FrameworkWords::kLogged)
      : plan_(plan), caller_(caller), started_(plan, interrupted, logger, caller, words) {}

  /// The worker for a runner, started if need be (WorkerSource::StartFor); it loads its framework
  /// in the meantime. Runners of one backend with the same backend options share one, unless the
  /// plan gives each its own, or several: `copy` counts those of a runner from 0.
  Result<std::shared_ptr<Worker>> Get(const RunnerPlan& runner, size_t copy = 0);

  /// See WorkerSource.
  bool HasPluginToo(const RunnerPlan& runner) { return source().HasPluginToo(runner); }

  /// What the Python workers that still run have imported, each module once, sorted. Of one that
  /// does not answer nothing is known.
  std::vector<LoadedModule> LoadedModules() const;

  /// The Python worker for the run's own scripts, which share one.
  Result<std::shared_ptr<Worker>> GetForScripts();

 private:
  std::shared_ptr<Worker> FindKept(const std::string& key) const;
  WorkerSource& source() {
    if (caller_ != nullptr && caller_->workers != nullptr) return *caller_->workers;
    return started_;
  }

  const ExecutionPlan& plan_;
  const Embedder* caller_;
  StartedWorkers started_;
  std::map<std::string, std::weak_ptr<Worker>> workers_;
  std::shared_ptr<Worker> scripts_;
};

}  // namespace vernier
