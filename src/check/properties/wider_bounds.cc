#include "check/properties/wider_bounds.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "model/onnx/model_type.h"
#include "model/ranges/input_steps.h"
#include "run/comparison/bound_recheck.h"
#include "run/runner/nudged_floats.h"
#include "run/runner/nudged_weights.h"

namespace vernier {
namespace {

SteppedInputs StepsIn(const ModelPlan& plan) {
  if (plan.type != ModelTypeName(ModelType::kOnnx)) return {};
  const Result<OnnxModel> model = OnnxModel::Open(plan.path);
  return model.ok() ? FindSteppedInputs(*model) : SteppedInputs();
}

// The runner on a feed whose floats are moved, or, where it has none, with its weights moved.
class MovedRuns {
 public:
  static Result<MovedRuns> On(const ProbedRunner& runner, const TensorMap& feed) {
    MovedRuns runs(runner, feed);
    runs.steps_ = StepsIn(runner.plan.model);
    runs.roundoff_ = CoarsestRoundoff(feed, runs.steps_);
    if (runs.roundoff_ > 0) {
      VERNIER_ASSIGN_OR_RETURN(runs.probe_, runner.Open());
      return runs;
    }
    VERNIER_ASSIGN_OR_RETURN(NudgedWeights weights, NudgedWeights::Of(runner.plan.model));
    runs.roundoff_ = weights.roundoff();
    runs.weights_.emplace(std::move(weights));
    return runs;
  }

  double roundoff() const { return roundoff_; }

  Result<TensorMap> Infer(std::optional<Nudge> nudge) {
    if (!weights_) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap moved, NudgedFeed(feed_, nudge, steps_));
      return probe_->Infer(moved);
    }
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model, weights_->Move(nudge));
    VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe,
                             Probe::Open(runner_.shared, runner_.plan, *model));
    return probe->Infer(feed_);
  }

 private:
  MovedRuns(const ProbedRunner& runner, const TensorMap& feed) : runner_(runner), feed_(feed) {}

  const ProbedRunner& runner_;
  const TensorMap& feed_;
  SteppedInputs steps_;
  double roundoff_ = 0;
  std::unique_ptr<Probe> probe_;
  std::optional<NudgedWeights> weights_;
};

// Outputs whose bounds may become wider. Flipped steps look like amplified rounding, and have their
// place in the bounds already.
std::map<std::string, RecheckedOutput> RecheckableIn(const TensorMap& outputs,
                                                     const ErrorBounds& bounds) {
  std::map<std::string, RecheckedOutput> recheckable;
  for (const NamedTensor& output : outputs) {
    const ErrorBound* const bound = bounds.Find(output.name);
    if (bound == nullptr || bound->element > 0 || bound->rms == 0) continue;
    recheckable[output.name].roundoff = bound->roundoff;
  }
  return recheckable;
}

Status RecheckOn(const ProbedRunner& runner, const ErrorBounds& bounds, const TensorMap& feed,
                 std::map<std::string, RecheckedOutput>& rechecked) {
  VERNIER_ASSIGN_OR_RETURN(MovedRuns runs, MovedRuns::On(runner, feed));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap made, runs.Infer({}));
  rechecked = RecheckableIn(made, bounds);
  if (rechecked.empty()) return {};
  return MeasureConditions(
      made, runs.roundoff(), RepeatsOf(runner.plan.model, runner.model.random_operator()),
      [&](std::optional<Nudge> nudge) { return runs.Infer(nudge); }, rechecked);
}

}  // namespace

const WidenedBounds* WiderBounds::For(const TensorMap& feed) {
  auto known = known_.find(&feed);
  if (known == known_.end()) known = known_.emplace(&feed, Measure(feed)).first;
  return known->second.condition > 1 ? &known->second : nullptr;
}

WidenedBounds WiderBounds::Measure(const TensorMap& feed) const {
  WidenedBounds wide{bounds_, 1};
  std::map<std::string, RecheckedOutput> rechecked;
  // Where it cannot be measured the bounds stay.
  (void)RecheckOn(runner_, bounds_, feed, rechecked);
  for (const auto& [name, output] : rechecked) {
    ErrorBound bound = *bounds_.Find(name);
    TakeCondition(output, bound);
    wide.condition = std::max(wide.condition, WidenedBy(bound, bound.rms));
    wide.bounds.Set(name, std::move(bound));
  }
  return wide;
}

}  // namespace vernier
