#include "check/runners/probe.h"

#include "inputs/coerce_feed.h"
#include "run/feeds/undeclared_inputs.h"
#include "run/runner/neutral_settings.h"
#include "run/steps/reset_words.h"

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
      reset_(ResetMethodOf(shared.resets, plan_)),
      execution_(WithEnvironment(shared.execution, circumstances)),
      pool_(execution_, shared.interrupted, shared.logger, shared.caller),
      runner_(plan_) {
  if (!shared.with_parts) runner_.LeaveOutParts();
}

Result<std::unique_ptr<Probe>> Probe::Open(const Shared& shared, const RunnerPlan& runner,
                                           const ModelSource& model,
                                           const Circumstances& circumstances) {
  std::unique_ptr<Probe> probe(new Probe(shared, runner, circumstances));
  const RunnerPlace place = runner.place;
  const bool has_both = place == RunnerPlace::kAuto && probe->pool_.HasPluginToo(probe->plan_);
  Status status = probe->OpenAt(has_both ? RunnerPlace::kPlugin : place, model);
  if (!status.ok() && has_both && shared.interrupted.load() == 0) {
    shared.logger.Verbose(runner.name + " | the plug-in is not used: " + status.message());
    (void)probe->runner_.Close();
    status = probe->OpenAt(RunnerPlace::kPython, model);
  }
  VERNIER_TRY(std::move(status));
  return probe;
}

Status Probe::OpenAt(RunnerPlace place, const ModelSource& model) {
  plan_.place = place;  // runner_ looks at it, too
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, pool_.Get(plan_));
  runner_.Attach(std::move(worker), 1);
  if (reset_.empty()) return runner_.Open(model);
  VERNIER_TRY(runner_.AwaitBackend());
  if (runner_.backend().OptionThatMeans(OptionMeaning::kResetMethod) == nullptr) {
    return InvalidArgument("--reset " + reset_ + ": the plug-in of '" + plan_.name +
                           "' has no option for a method");
  }
  MoreOptions options;
  options.meant.emplace_back(OptionMeaning::kResetMethod, reset_);
  return runner_.Open(model, options);
}

Result<std::vector<TensorInfo>> Probe::InputsToFeed(const InputPlan& inputs) const {
  if (!runner_.inputs_unknown()) return runner_.session().inputs;
  if (!inputs.load_paths.empty() || inputs.script.given()) return std::vector<TensorInfo>();
  return DescribedInputs(inputs.shape_words, &runner_);
}

Result<TensorMap> Probe::Coerce(const TensorMap& feed, Logger& logger) const {
  if (runner_.inputs_unknown()) return feed;
  VERNIER_ASSIGN_OR_RETURN(
      CoercedFeed coerced,
      CoerceFeed(feed, runner_.session().inputs, {Strictness::kStrict, {}, false}, logger));
  return std::move(coerced.tensors);
}

Result<TensorMap> Probe::Infer(const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  VERNIER_ASSIGN_OR_RETURN(IterationResult result, runner_.Infer(block, runs_++));
  return std::move(result.outputs);
}

Result<TensorMap> Probe::InferUnreset(const TensorMap& feed) {
  runner_.GoOn(true);
  Result<TensorMap> outputs = Infer(feed);
  runner_.GoOn(false);
  return outputs;
}

Probe::Continuation Probe::GoOn(const TensorMap& feed, int64_t count) {
  Continuation continuation;
  while (count-- > 0) {
    Result<TensorMap> outputs = InferUnreset(feed);
    continuation.failure = outputs.status();
    if (!outputs.ok()) break;
    continuation.outputs.push_back(*std::move(outputs));
  }
  return continuation;
}

Result<Worker::TrialOutcome> Probe::TryInfer(const TensorMap& feed, const TrialRequest& request) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  return runner_.TryInfer(block, request);
}

}  // namespace vernier
