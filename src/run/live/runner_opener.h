// Gives the runners of a run their workers, and opens their models there.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "run/feeds/calibration_feeds.h"
#include "run/feeds/feed_stream.h"
#include "run/live/runner_reports.h"
#include "run/runner/model_conversion.h"
#include "run/workers/runner_session.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What a session is opened with. The model's files and the feeds stay as long as this does.
struct SessionParts {
  std::shared_ptr<const ModelSource> model;
  CalibrationFeeds calibration;
  MoreOptions options;
};

/// Runners are identified by their place in the plan, which is the number of their session, too.
class RunnerOpener {
 public:
  /// All must outlive it; `caller` may be null.
  RunnerOpener(const RunPlan& plan, const std::atomic<int>& interrupted, RunnerReports& reports,
               const Embedder* caller);

  WorkerPool& workers() { return pool_; }
  const WorkerPool& workers() const { return pool_; }
  /// A Python worker for the run's own scripts, started if need be.
  Result<std::shared_ptr<Worker>> ScriptWorker() { return pool_.GetForScripts(); }

  /// Gives the runner its worker, which loads its framework in the meantime; where there is none,
  /// the runner fails.
  void Start(size_t index, RunnerSession& runner);
  /// One more worker of the kind that the runner has, or the same one where it shares it: `copy` as
  /// in WorkerPool::Get.
  Result<std::shared_ptr<Worker>> WorkerFor(size_t index, const RunnerPlan& runner,
                                            size_t copy = 0);

  /// The model that a runner is to open, converted where need be (ModelConversions::ModelOf).
  Result<ModelPlan> ModelOf(const RunnerPlan& runner);
  /// The same for another session: what is saved and shown of it was seen to when it was opened
  /// first.
  Result<ModelPlan> ModelAgain(const RunnerPlan& runner);
  /// Errors as ModelSource::Prepare.
  Result<std::shared_ptr<const ModelSource>> SourceOf(const ModelPlan& model, Logger& logger);

  /// `python` is what feeds for calibration come from where a script makes or draws them. Errors as
  /// SourceOf() and CalibrationFeeds::Make.
  Result<SessionParts> Prepare(const RunnerPlan& runner, const ModelPlan& model,
                               const PythonFeeds& python, Logger& logger);

  /// What every session of the runner is opened with: how its state is reset (--reset), and its
  /// share of the threads.
  MoreOptions OwnOptions(const RunnerPlan& runner) const;

  /// Opens the model in the worker that the runner has, or in the user's Python where its plug-in
  /// cannot. A failure puts the runner out of the run; a model or an option that is wrong is
  /// returned, since it is not the backend's fault. kCancelled.
  Status Open(size_t index, RunnerSession& runner, const ModelPlan& model,
              const PythonFeeds& python, Logger& logger);

  /// The runner that draws random numbers, and by which operator, in a sentence; empty: none does.
  const std::string& random_numbers() const { return random_numbers_; }

 private:
  bool MayMoveToPython(const RunnerSession& runner) const;
  Result<std::shared_ptr<Worker>> WorkerAt(RunnerPlace place, RunnerPlan runner, size_t copy = 0);
  Status OpenInPython(size_t index, RunnerSession& runner, const ModelSource& model,
                      const Status& why_not_plugin);
  Status CheckPlugin(RunnerSession& runner, const ModelPlan& model) const;
  Status CheckReset(const RunnerSession& runner) const;
  Status CheckRandomNumbers(const RunnerSession& runner, const ModelSource& model);

  const RunPlan& plan_;
  const std::atomic<int>& interrupted_;
  RunnerReports& reports_;
  WorkerPool pool_;
  ModelConversions conversions_;
  std::vector<RunnerPlace> places_;  // where runners were opened
  std::string random_numbers_;
};

}  // namespace vernier
