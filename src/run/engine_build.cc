#include "run/engine_build.h"

#include "run/calibration_feeds.h"
#include "run/engine_report.h"
#include "run/live_runner.h"
#include "run/run_scripts.h"
#include "run/worker_pool.h"

namespace vernier {

Status BuildEngineFile(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger) {
  WorkerPool pool(plan.execution, interrupted, logger);
  LiveRunner runner(plan.runners.front());
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, pool.Get(plan.runners.front()));
  runner.Attach(std::move(worker), 0);
  RunScripts scripts;
  if (RunScripts::Wanted(plan)) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> python, pool.GetForScripts());
    VERNIER_ASSIGN_OR_RETURN(scripts, RunScripts::Open(plan, python, logger));
  }
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                           ModelSource::Prepare(plan.runners.front().model, logger));
  VERNIER_ASSIGN_OR_RETURN(const CalibrationFeeds feeds,
                           CalibrationFeeds::Make(plan, plan.runners.front(), *model,
                                                  {scripts.feeds(), scripts.draws()}, logger));
  VERNIER_TRY(runner.Open(*model, feeds.options()));
  return runner.Close();
}

Result<EngineRecord> DescribeEngineFile(const RunPlan& plan, const std::atomic<int>& interrupted,
                                        Logger& logger) {
  WorkerPool pool(plan.execution, interrupted, logger);
  LiveRunner runner(plan.runners.front());
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, pool.Get(plan.runners.front()));
  runner.Attach(std::move(worker), 0);
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                           ModelSource::Prepare(plan.runners.front().model, logger));
  const EngineReportFile report = EngineReportFile::For(plan.runners.front());
  OptionList options;
  report.AddTo(options);
  VERNIER_TRY(runner.Open(*model, options));
  VERNIER_ASSIGN_OR_RETURN(EngineRecord engine, report.Read());
  VERNIER_TRY(runner.Close());
  return engine;
}

}  // namespace vernier
