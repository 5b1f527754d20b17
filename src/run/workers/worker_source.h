// Where the workers of a run come from. Whoever has others (a test, say) puts them in the place of
// those that this program starts: Embedder::workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/worker/worker.h"
#include "run/workers/embedder.h"
#include "util/log/log.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Not thread-safe. Workers must not outlive it.
class WorkerSource {
 public:
  virtual ~WorkerSource() = default;

  /// A new worker for the runner, which loads its framework in the meantime. `runner.place` says
  /// who serves a backend that has both; kAuto is the user's Python. kUnavailable where there is
  /// no such backend.
  virtual Result<std::unique_ptr<Worker>> StartFor(const RunnerPlan& runner) = 0;

  /// A new Python worker for a run's own scripts. kUnavailable without Python.
  virtual Result<std::unique_ptr<Worker>> StartForScripts() = 0;

  /// Is the runner's backend one of Python that has a plug-in too, and is that installed?
  virtual bool HasPluginToo(const RunnerPlan& runner) const = 0;
};

/// Is the runner to be served by the user's Python? kAuto as in StartFor.
bool ServedByPython(const RunnerPlan& runner);

/// Is the runner an object of the calling program (Embedder::connect)?
bool ServedByCaller(const RunnerPlan& runner);

/// What becomes of what frameworks print.
enum class FrameworkWords : uint8_t {
  kLogged,    ///< from -v on
  kPassedOn,  ///< as it is and at every verbosity: Polygraphy loads the frameworks itself
};

/// Workers that this program starts: processes of its own executable and of the user's Python,
/// threads (ExecutionPlan::in_process), and connections to what the calling program serves.
class StartedWorkers final : public WorkerSource {
 public:
  /// All must outlive it; `caller` may be null.
  StartedWorkers(const ExecutionPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
                 const Embedder* caller, FrameworkWords words)
      : plan_(plan), interrupted_(interrupted), logger_(logger), caller_(caller), words_(words) {}

  Result<std::unique_ptr<Worker>> StartFor(const RunnerPlan& runner) override;
  Result<std::unique_ptr<Worker>> StartForScripts() override;
  bool HasPluginToo(const RunnerPlan& runner) const override;

 private:
  Result<std::unique_ptr<Worker>> StartInPython(const RunnerPlan& runner);
  Result<std::unique_ptr<Worker>> StartAtCaller();
  Result<std::unique_ptr<Worker>> Start(LoadRequest load, std::vector<std::string> program,
                                        bool speaks_for_user,
                                        const std::vector<std::string>& environment = {});

  const ExecutionPlan& plan_;
  const std::atomic<int>& interrupted_;
  Logger& logger_;
  const Embedder* caller_;
  FrameworkWords words_;
};

}  // namespace vernier
