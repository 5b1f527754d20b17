// The workers of a run: one for each framework, or one for each runner with --use-subprocess.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backend/worker.h"
#include "run/caller_objects.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// May the user's Python serve this runner where its plug-in is missing or does not fit what is
/// installed? So TensorRT's, unless the library was named.
bool MayMoveToPython(const RunnerPlan& runner);

class WorkerPool {
 public:
  /// `interrupted` is set by a signal handler; it must outlive the pool.
  /// `caller` (may be null) must outlive it, too.
  WorkerPool(const ExecutionPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
             const CallerObjects* caller = nullptr)
      : plan_(plan), interrupted_(interrupted), logger_(logger), caller_(caller) {}

  /// Passes on what frameworks print, as it is and at every verbosity: so it is with the peer,
  /// which loads them itself. For workers that are not started yet.
  void PassOnWords() { passes_on_words_ = true; }

  /// The worker for a runner, started if need be; it loads its framework in the meantime. Runners
  /// of one backend with the same backend options share one. `runner.place` says who serves a
  /// backend that has both; kAuto is the user's Python.
  Result<std::shared_ptr<Worker>> Get(const RunnerPlan& runner);

  /// Is the runner's backend one of Python that has a plug-in too, and is that installed?
  bool HasPluginToo(const RunnerPlan& runner) const;

  /// The Python worker for the run's own scripts, which share one.
  Result<std::shared_ptr<Worker>> GetForScripts();

 private:
  std::shared_ptr<Worker> FindKept(const std::string& key) const;
  Result<std::shared_ptr<Worker>> StartAtCaller();
  Result<std::shared_ptr<Worker>> Start(LoadRequest load, std::vector<std::string> program,
                                        bool speaks_for_user);

  const ExecutionPlan& plan_;
  const std::atomic<int>& interrupted_;
  Logger& logger_;
  const CallerObjects* caller_;
  bool passes_on_words_ = false;
  std::map<std::string, std::weak_ptr<Worker>> workers_;
  std::shared_ptr<Worker> scripts_;
};

}  // namespace vernier
