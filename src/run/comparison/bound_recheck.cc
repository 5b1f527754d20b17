#include "run/comparison/bound_recheck.h"

#include <algorithm>
#include <cmath>

#include "compare/error_bound.h"
#include "model/rounding/unit_roundoff.h"
#include "run/runner/nudged_floats.h"
#include "run/runner/nudged_weights.h"

namespace vernier {
namespace {

constexpr uint64_t kHearingDraws = 3;
// A well-conditioned network moves by no more, and its bound has room for it.
constexpr double kFewRoundoffs = 8;

// The coarsest roundoff before an output and of itself: what moves a short type at all moves it by
// one of its own steps.
double CoarsestBefore(const std::string& name, const TensorMap& made, double of_inputs,
                      double of_the_way) {
  const Tensor* output = Find(made, name);
  const double own = output == nullptr ? 0 : UnitRoundoff(output->dtype());
  return std::max({of_inputs, of_the_way, own});
}

// By how many roundoffs of that size an output has moved, relative to its scale. 0 where the two
// cannot be compared, and where that is no finite number.
double StepsMoved(const std::string& name, const TensorMap& from, const TensorMap& to,
                  double roundoff) {
  const Tensor* before = Find(from, name);
  const Tensor* after = Find(to, name);
  const bool comparable = before != nullptr && after != nullptr && !before->bytes().empty() &&
                          before->dims() == after->dims() && before->dtype() == after->dtype();
  if (!comparable) return 0;
  const Result<BoundVerdict> moved = MeasureAgainstBound(*before, *after, {});
  const double steps = moved.ok() ? moved->rms / roundoff : 0;
  return std::isfinite(steps) ? steps : 0;
}

// A TensorRT engine takes minutes to build, and would be built for each draw.
Result<NudgedWeights> WeightsToMove(const RunnerPlan& runner) {
  if (runner.backend.starts_with("tensorrt")) return Unimplemented("engines are not built again");
  return NudgedWeights::Of(runner.model);
}

// A runner on a feed whose floats are moved, or, where it has none, with its weights moved.
class MovedInference {
 public:
  static Result<MovedInference> Of(LiveRuns& live, size_t stream, const TensorMap& feed,
                                   int64_t iteration) {
    MovedInference moved(live, stream, feed, iteration);
    moved.roundoff_ = CoarsestRoundoff(feed);
    if (moved.roundoff_ > 0) return moved;
    VERNIER_ASSIGN_OR_RETURN(NudgedWeights weights, WeightsToMove(live[stream].plan()));
    moved.roundoff_ = weights.roundoff();
    moved.weights_.emplace(std::move(weights));
    return moved;
  }

  double roundoff() const { return roundoff_; }

  Result<TensorMap> Infer(std::optional<Nudge> nudge) const {
    if (!weights_ || !nudge) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap moved, NudgedFeed(feed_, nudge));
      return live_.InferAside(stream_, moved, iteration_);
    }
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model, weights_->Move(nudge));
    return live_.InferAsideWith(stream_, *model, feed_, iteration_);
  }

 private:
  MovedInference(LiveRuns& live, size_t stream, const TensorMap& feed, int64_t iteration)
      : live_(live), stream_(stream), feed_(feed), iteration_(iteration) {}

  LiveRuns& live_;
  size_t stream_;
  const TensorMap& feed_;
  int64_t iteration_;
  double roundoff_ = 0;
  std::optional<NudgedWeights> weights_;
};

}  // namespace

Status MeasureConditions(const TensorMap& made, double roundoff, const InferMoved& infer,
                         std::map<std::string, RecheckedOutput>& rechecked) {
  if (roundoff == 0) return {};
  // What moves by itself tells nothing of rounding.
  VERNIER_ASSIGN_OR_RETURN(const TensorMap repeated, infer({}));
  std::map<double, std::vector<std::pair<const std::string, RecheckedOutput>*>> by_roundoff;
  for (auto& entry : rechecked) {
    const double own = CoarsestBefore(entry.first, made, roundoff, entry.second.roundoff);
    entry.second.repeats = StepsMoved(entry.first, made, repeated, own) <= kFewRoundoffs;
    if (entry.second.repeats) by_roundoff[own].push_back(&entry);
  }
  for (const auto& [own, outputs] : by_roundoff) {
    for (uint64_t draw = 0; draw < kHearingDraws; ++draw) {
      VERNIER_ASSIGN_OR_RETURN(const TensorMap moved, infer(Nudge{draw, own}));
      for (auto* entry : outputs) {
        const double steps = StepsMoved(entry->first, made, moved, own);
        if (steps <= kFewRoundoffs) continue;
        double& condition = entry->second.condition;
        condition = std::max(condition, std::min(steps, kMostCondition));
      }
    }
  }
  return {};
}

double ConditionSince(double before, double condition) {
  if (before <= 1) return condition;
  return condition > kFewRoundoffs * before ? condition / before : 1;
}

std::vector<RecheckedOutput> BoundRecheck::Recheck(size_t stream,
                                                   std::span<const OutputToRecheck> outputs,
                                                   const TensorMap& made) {
  std::vector<OutputToRecheck> unknown;
  for (const auto& [name, roundoff, since] : outputs) {
    if (!known_.contains({stream, name})) unknown.push_back({name, roundoff});
    const bool made_too = !since.empty() && Find(made, since) != nullptr;
    if (made_too && !known_.contains({stream, since})) unknown.push_back({since, roundoff});
  }
  // What an inference that failed has not told stays unknown, and the bound as it is.
  if (!unknown.empty() && CanInfer(stream)) (void)Measure(stream, unknown, made);
  std::vector<RecheckedOutput> rechecked;
  for (const OutputToRecheck& output : outputs) {
    rechecked.push_back(KnownOf(stream, output.name));
    double& condition = rechecked.back().condition;
    condition = ConditionSince(KnownOf(stream, output.since).condition, condition);
  }
  return rechecked;
}

RecheckedOutput BoundRecheck::KnownOf(size_t stream, const std::string& name) const {
  const auto found = known_.find({stream, name});
  return found == known_.end() ? RecheckedOutput() : found->second;
}

Status BoundRecheck::Measure(size_t stream, std::span<const OutputToRecheck> outputs,
                             const TensorMap& made) {
  const TensorMap& feed = bounds_.last_feed();
  std::map<std::string, RecheckedOutput> rechecked;
  for (const OutputToRecheck& output : outputs) rechecked[output.name].roundoff = output.roundoff;
  // With --noise-floor the kept feed is that of iteration 0, and `made` may be of any.
  TensorMap of_first;
  if (live_.plan().noise_floor) {
    VERNIER_ASSIGN_OR_RETURN(of_first, live_.InferAside(stream, feed, bounds_.last_iteration()));
  }
  VERNIER_ASSIGN_OR_RETURN(const MovedInference moved,
                           MovedInference::Of(live_, stream, feed, bounds_.last_iteration()));
  const Status status = MeasureConditions(
      live_.plan().noise_floor ? of_first : made, moved.roundoff(),
      [&](std::optional<Nudge> nudge) { return moved.Infer(nudge); }, rechecked);
  for (const auto& [name, output] : rechecked) known_[{stream, name}] = output;
  return status;
}

}  // namespace vernier
