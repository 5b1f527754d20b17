#include "run/comparison/bound_recheck.h"

#include <algorithm>
#include <cmath>

#include "compare/functions/comparison.h"
#include "compare/functions/error_bound.h"
#include "model/onnx/model_type.h"
#include "model/rounding/unit_roundoff.h"
#include "run/live/side_inference.h"
#include "run/runner/nudged_floats.h"
#include "run/runner/nudged_weights.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// By how much an output is off, relative to its scale.
double ErrorOf(const OutputComparison& output) {
  const auto* data = output.FindData<SimpleResult>(CompareFunction::kSimple);
  return data != nullptr && data->bound ? data->bound->rms : 0;
}

constexpr uint64_t kHearingDraws = 3;
constexpr uint64_t kFlippingDraws = 8;
// What repeats itself but for the order of its sums differs by no more.
constexpr double kFewRoundoffs = 8;

// The coarsest roundoff before an output and of itself: what moves a short type at all moves it by
// one of its own steps.
double CoarsestBefore(const std::string& name, const TensorMap& made, double of_inputs,
                      double of_the_way) {
  const Tensor* output = Find(made, name);
  const double own = output == nullptr ? 0 : UnitRoundoff(output->dtype());
  return std::max({of_inputs, of_the_way, own});
}

Movement MovedOf(const std::string& name, const TensorMap& from, const TensorMap& to) {
  const Tensor* before = Find(from, name);
  const Tensor* after = Find(to, name);
  return before == nullptr || after == nullptr ? Movement() : Moved(*before, *after);
}

// What the draws have made of an output.
class DrawnMovements {
 public:
  void Add(const Movement& moved) {
    least_ = most_ ? std::min(least_, moved.rms) : moved.rms;
    most_ = std::max(most_.value_or(0), moved.rms);
    element_ = std::max(element_, moved.element);
  }

  void Give(double roundoff, RecheckedOutput& output) const {
    const double steps = most_.value_or(0) / roundoff;
    output.condition = std::clamp(steps, 1.0, kMostCondition);
    if (steps > 0) output.spread = least_ > 0 ? *most_ / least_ : kMostCondition;
    output.element = steps > kMostCondition ? element_ * kMostCondition / steps : element_;
  }

 private:
  double least_ = 0, element_ = 0;
  std::optional<double> most_;
};

// An engine takes minutes to build, and would be built for each draw.
Result<NudgedWeights> WeightsToMove(const RunnerSession& runner, Moves moves) {
  if (runner.backend().Has(BackendTrait::kBuildsEngines))
    return Unimplemented("engines are not built again");
  return NudgedWeights::Of(runner.plan().model, moves == Moves::kInputsAndScales
                                                    ? MovedWeights::kMatricesAndScales
                                                    : MovedWeights::kMatrices);
}

// A runner on a feed whose floats are moved, or with its weights moved: where it has no floats, or
// where weights are moved along.
class MovedInference {
 public:
  static Result<MovedInference> Of(InferenceScheduler& live, size_t stream,
                                   const PairErrorBounds& bounds, Moves moves, bool state) {
    MovedInference moved(live, stream, bounds.last_feed(), bounds.last_iteration());
    moved.steps_ = bounds.SteppedInputsOf(stream);
    if (state && live.steps() != nullptr) moved.state_ = live.steps()->StateOf(stream);
    moved.roundoff_ = CoarsestRoundoff(Overlaid(moved.feed_, moved.state_), moved.steps_);
    const bool has_floats = moved.roundoff_ > 0;
    if (has_floats && moves == Moves::kInputs) return moved;
    Result<NudgedWeights> weights = WeightsToMove(live[stream], moves);
    if (!weights.ok() && has_floats) return moved;
    if (!weights.ok()) return weights.status();
    moved.roundoff_ = std::max(moved.roundoff_, weights->roundoff());
    moved.weights_.emplace(*std::move(weights));
    moved.moves_along_ = moves != Moves::kInputs;
    return moved;
  }

  /// Whether weights are moved by steps of the shorter type.
  bool moves_along() const { return moves_along_; }
  double roundoff() const { return roundoff_; }

  Result<TensorMap> Infer(std::optional<Nudge> nudge) const {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap moved, NudgedFeed(feed_, nudge, steps_));
    if (state_.empty()) return InferWith(moved, nudge);
    VERNIER_ASSIGN_OR_RETURN(TensorMap state, NudgedFeed(state_, nudge, steps_));
    TensorMap own = live_.steps()->ExchangeState(stream_, std::move(state));
    Result<TensorMap> made = InferWith(moved, nudge);
    live_.steps()->ExchangeState(stream_, std::move(own));
    return made;
  }

 private:
  Result<TensorMap> InferWith(const TensorMap& moved, std::optional<Nudge> nudge) const {
    if (!weights_ || !nudge) return InferAside(live_, stream_, moved, iteration_);
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model, weights_->Move(nudge));
    return InferAsideWith(live_, stream_, *model, moved, iteration_);
  }

  MovedInference(InferenceScheduler& live, size_t stream, const TensorMap& feed, int64_t iteration)
      : live_(live), stream_(stream), feed_(feed), iteration_(iteration) {}

  InferenceScheduler& live_;
  size_t stream_;
  const TensorMap& feed_;
  int64_t iteration_;
  SteppedInputs steps_;
  TensorMap state_;  // empty: it stays
  double roundoff_ = 0;
  std::optional<NudgedWeights> weights_;
  bool moves_along_ = false;
};

}  // namespace

Movement Moved(const Tensor& before, const Tensor& after) {
  const bool comparable =
      !before.bytes().empty() && before.dims() == after.dims() && before.dtype() == after.dtype();
  if (!comparable) return {};
  const Result<BoundVerdict> moved = MeasureAgainstBound(before, after, {});
  if (!moved.ok() || !std::isfinite(moved->rms) || !(moved->scale > 0)) return {};
  if (Kind(before.dtype()) == DTypeKind::kComplex) return {.rms = moved->rms};
  return {moved->rms, SplitErrors(before, after, {}).largest / moved->scale};
}

Repeats RepeatsOf(const ModelPlan& model, const std::string& random_operator) {
  const bool is_onnx = model.type == ModelTypeName(ModelType::kOnnx);
  return is_onnx && random_operator.empty() ? Repeats::kSurely : Repeats::kPerhaps;
}

Status MeasureConditions(const TensorMap& made, double roundoff, Repeats repeats,
                         const InferMoved& infer,
                         std::map<std::string, RecheckedOutput>& rechecked) {
  if (roundoff == 0) return {};
  // What moves by itself tells nothing of rounding.
  const bool surely = repeats == Repeats::kSurely;
  TensorMap repeated;
  if (!surely) {
    VERNIER_ASSIGN_OR_RETURN(repeated, infer({}));
  }
  std::map<double, std::vector<std::pair<const std::string, RecheckedOutput>*>> by_roundoff;
  for (auto& entry : rechecked) {
    const double own = CoarsestBefore(entry.first, made, roundoff, entry.second.roundoff);
    entry.second.repeats =
        surely || MovedOf(entry.first, made, repeated).rms <= kFewRoundoffs * own;
    if (entry.second.repeats) by_roundoff[own].push_back(&entry);
  }
  const uint64_t draws = kHearingDraws - (surely ? 0 : 1);
  for (const auto& [own, outputs] : by_roundoff) {
    std::map<std::string, DrawnMovements> moves;
    for (uint64_t draw = 0; draw < draws; ++draw) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap moved, infer(Nudge{draw, own}));
      for (auto* entry : outputs) {
        DrawnMovements& drawn = moves[entry->first];
        drawn.Add(MovedOf(entry->first, made, moved));
        drawn.Give(own, entry->second);
      }
    }
  }
  return {};
}

void TakeCondition(const RecheckedOutput& rechecked, ErrorBound& bound) {
  ErrorBound wider = bound;
  wider.condition = rechecked.condition;
  wider.spread = rechecked.spread;
  wider.weights_moved = rechecked.weights;
  if (WidenedBy(wider, bound.rms) >= WidenedBy(bound, bound.rms)) bound = std::move(wider);
  bound.moved_element = std::max(bound.moved_element, rechecked.element);
}

OverBounds FindOver(const IterationComparison& comparison, const ErrorBounds& bounds) {
  OverBounds over;
  for (const OutputComparison& output : comparison.outputs) {
    const auto* data = output.FindData<SimpleResult>(CompareFunction::kSimple);
    const ErrorBound* bound = bounds.Find(output.a_name);
    const bool failed = data != nullptr && data->bound && !data->bound->passed;
    if (!failed || bound == nullptr || bound->element > 0 || bound->rms == 0) continue;
    const auto since =
        std::ranges::find(comparison.outputs, bound->since, &OutputComparison::a_name);
    const bool known = since != comparison.outputs.end();
    const double error = known ? ErrorOf(*since) : 0;
    over.first.push_back({output.a_name, bound->roundoff, bound->since, error});
    over.second.push_back({output.b_name, bound->roundoff, known ? since->b_name : "", error});
  }
  return over;
}

double ShareSince(double before, double error) {
  return std::min(std::max(error, 1.0) / std::max(before, 1.0), 1.0);
}

std::vector<RecheckedOutput> BoundRecheck::Recheck(size_t stream,
                                                   std::span<const OutputToRecheck> outputs,
                                                   const TensorMap& made, Moves moves) {
  const Subject subject{stream, moves};
  std::vector<OutputToRecheck> unknown;
  for (const OutputToRecheck& output : outputs) {
    for (const std::string& name : {output.name, output.since}) {
      const bool here = !name.empty() && Find(made, name) != nullptr;
      if (here && !known_.contains({subject, name})) unknown.push_back({name, output.roundoff});
    }
  }
  // What an inference that failed has not returned stays unknown, and the bound as it is.
  if (!unknown.empty() && CanInfer(stream)) (void)Measure(subject, unknown, made);
  std::vector<RecheckedOutput> rechecked;
  for (const OutputToRecheck& output : outputs) {
    RecheckedOutput found = KnownOf(subject, output.name);
    const double roundoff = std::max(output.roundoff, UnitRoundoff(DType::kFloat32));
    const double before = KnownOf(subject, output.since).condition;
    const double share =
        output.since.empty() ? 1 : ShareSince(before, output.since_error / roundoff);
    found.condition = std::max(found.condition * share, 1.0);
    found.element *= share;
    rechecked.push_back(found);
  }
  return rechecked;
}

RecheckedOutput BoundRecheck::KnownOf(Subject subject, const std::string& name) const {
  const auto found = known_.find({subject, name});
  return found == known_.end() ? RecheckedOutput() : found->second;
}

Status BoundRecheck::Measure(Subject subject, std::span<const OutputToRecheck> outputs,
                             const TensorMap& made) {
  const TensorMap& feed = bounds_.last_feed();
  std::map<std::string, RecheckedOutput> rechecked;
  for (const OutputToRecheck& output : outputs) rechecked[output.name].roundoff = output.roundoff;
  // With --noise-floor the kept feed is that of iteration 0, and `made` may be of any.
  const int64_t iteration = bounds_.last_iteration();
  TensorMap of_first;
  if (live_.plan().noise_floor) {
    VERNIER_ASSIGN_OR_RETURN(of_first, InferAside(live_, subject.stream, feed, iteration));
  }
  VERNIER_ASSIGN_OR_RETURN(
      const MovedInference moved,
      MovedInference::Of(live_, subject.stream, bounds_, subject.moves, moves_state_));
  const Status status = MeasureConditions(
      live_.plan().noise_floor ? of_first : made, moved.roundoff(),
      RepeatsOf(live_[subject.stream].plan().model, live_.opener().random_numbers()),
      [&](std::optional<Nudge> nudge) { return moved.Infer(nudge); }, rechecked);
  for (auto& [name, output] : rechecked) {
    output.weights = moved.moves_along();
    known_[{subject, name}] = output;
  }
  return status;
}

std::vector<Movement> BoundRecheck::MoveByRounding(size_t stream,
                                                   std::span<const OutputToMove> outputs,
                                                   const TensorMap& made) {
  std::vector<OutputToMove> to_move;
  for (const OutputToMove& output : outputs) {
    if (!output.IsEnough(moved_[{stream, output.name}].most)) to_move.push_back(output);
  }
  // What an inference that failed has not returned stays unknown.
  if (!to_move.empty()) (void)Move(stream, to_move, made);
  std::vector<Movement> moved;
  for (const OutputToMove& output : outputs) moved.push_back(moved_[{stream, output.name}].most);
  return moved;
}

Status BoundRecheck::Move(size_t stream, std::span<const OutputToMove> outputs,
                          const TensorMap& made) {
  const bool repeats =
      RepeatsOf(live_[stream].plan().model, live_.opener().random_numbers()) == Repeats::kSurely;
  // With --noise-floor the feed is not the one that `made` is of.
  if (!repeats || live_.plan().noise_floor || !CanInfer(stream)) return {};
  VERNIER_ASSIGN_OR_RETURN(
      const MovedInference inference,
      MovedInference::Of(live_, stream, bounds_, Moves::kInputsAndScales, moves_state_));
  for (uint64_t draw = 0; draw < kFlippingDraws; ++draw) {
    std::vector<std::pair<const OutputToMove*, Drawn*>> wanting;
    for (const OutputToMove& output : outputs) {
      Drawn& drawn = moved_[{stream, output.name}];
      if (drawn.draws == draw && !output.IsEnough(drawn.most))
        wanting.emplace_back(&output, &drawn);
    }
    if (wanting.empty()) continue;
    VERNIER_ASSIGN_OR_RETURN(const TensorMap made_now,
                             inference.Infer(Nudge{draw, inference.roundoff()}));
    for (const auto& [output, drawn] : wanting) {
      const Movement now = MovedOf(output->name, made, made_now);
      drawn->most = {std::max(drawn->most.rms, now.rms),
                     std::max(drawn->most.element, now.element)};
      ++drawn->draws;
    }
  }
  return {};
}

}  // namespace vernier
