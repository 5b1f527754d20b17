#include "run/engine/engine_build.h"

#include "inputs/dim_sizes.h"
#include "run/feeds/calibration_feeds.h"
#include "run/feeds/run_scripts.h"
#include "run/workers/engine_report.h"
#include "run/workers/runner_session.h"
#include "run/workers/worker_pool.h"

namespace vernier {
namespace {

/// By the plug-in; by the user's Python where that is asked for, or where no plug-in fits the
/// TensorRT that is there.
Status Open(WorkerPool& pool, const ModelSource& model, const OptionList& options,
            RunnerSession& runner, Logger& logger) {
  RunnerPlan plan = runner.plan();
  const auto open = [&]() -> Status {
    VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, pool.Get(plan));
    runner.Attach(std::move(worker), 0);
    return runner.Open(model, options);
  };
  Status status = open();
  const bool loaded = !runner.backend().framework_version.empty();
  if (status.ok() || loaded || !MayMoveToPython(plan)) return status;
  logger.Verbose("the plug-in is not used: " + status.message());
  (void)runner.Close();
  plan.place = RunnerPlace::kPython;
  const Status in_python = open();
  if (in_python.code() != StatusCode::kUnavailable) return in_python;
  return Unavailable(status.message() +
                     "\nNote: Python cannot serve it either: " + in_python.message());
}

}  // namespace

Result<RunnerRecord> BuildEngineFile(const RunPlan& plan, const std::atomic<int>& interrupted,
                                     Logger& logger, const Embedder* caller,
                                     const RunnerSession::Waiting& waiting) {
  WorkerPool pool(plan.execution, interrupted, logger, caller);
  RunnerSession runner(plan.runners.front(), waiting);
  RunScripts scripts;
  if (RunScripts::Wanted(plan)) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> python, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(scripts, RunScripts::Open(plan, python, logger));
  }
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                           ModelSource::Prepare(plan.runners.front().model, logger));
  // No feed is made that would refuse a dimension that the model does not have.
  if (const std::vector<TensorInfo>& inputs = model->request().inputs; !inputs.empty()) {
    VERNIER_TRY(CompleteShapes({}, inputs, {.given = plan.inputs.dims}).status());
  }
  VERNIER_ASSIGN_OR_RETURN(const CalibrationFeeds feeds,
                           CalibrationFeeds::Make(plan, plan.runners.front(), *model,
                                                  {scripts.feeds(), scripts.draws()}, logger));
  VERNIER_TRY(Open(pool, *model, feeds.options(), runner, logger));
  RunnerRecord record = runner.Describe();
  VERNIER_TRY(runner.Close());
  return record;
}

Result<EngineRecord> DescribeEngineFile(const RunPlan& plan, const std::atomic<int>& interrupted,
                                        Logger& logger) {
  WorkerPool pool(plan.execution, interrupted, logger);
  RunnerSession runner(plan.runners.front());
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                           ModelSource::Prepare(plan.runners.front().model, logger));
  const EngineReportFile report = EngineReportFile::For(plan.runners.front());
  OptionList options;
  report.AddTo(options);
  VERNIER_TRY(Open(pool, *model, options, runner, logger));
  VERNIER_ASSIGN_OR_RETURN(EngineRecord engine, report.Read());
  VERNIER_TRY(runner.Close());
  return engine;
}

}  // namespace vernier
