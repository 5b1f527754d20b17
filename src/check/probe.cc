#include "check/probe.h"

#include "run/neutral_settings.h"

namespace vernier {
namespace {

ExecutionPlan WithEnvironment(ExecutionPlan plan, const Circumstances& circumstances) {
  plan.environment.insert(plan.environment.end(), circumstances.environment.begin(),
                          circumstances.environment.end());
  return plan;
}

RunnerPlan WithSettings(RunnerPlan plan, const Circumstances& circumstances) {
  for (const auto& [key, value] : circumstances.settings) {
    ReplaceSetting(plan, key, value);
  }
  return plan;
}

}  // namespace

Probe::Probe(const Shared& shared, RunnerPlan runner, const Circumstances& circumstances)
    : plan_(WithSettings(std::move(runner), circumstances)),
      execution_(WithEnvironment(shared.execution, circumstances)),
      pool_(execution_, shared.interrupted, shared.logger),
      runner_(plan_) {}

Result<std::unique_ptr<Probe>> Probe::Open(const Shared& shared, const RunnerPlan& runner,
                                           const ModelSource& model,
                                           const Circumstances& circumstances) {
  std::unique_ptr<Probe> probe(new Probe(shared, runner, circumstances));
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, probe->pool_.Get(probe->plan_));
  probe->runner_.Attach(std::move(worker), 1);
  VERNIER_TRY(probe->runner_.Open(model));
  return probe;
}

Result<TensorMap> Probe::Infer(const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  VERNIER_ASSIGN_OR_RETURN(IterationResult result, runner_.Infer(block, runs_++));
  return std::move(result.outputs);
}

Result<Worker::TrialOutcome> Probe::TryInfer(const TensorMap& feed, const TrialRequest& request) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  return runner_.TryInfer(block, request);
}

}  // namespace vernier
