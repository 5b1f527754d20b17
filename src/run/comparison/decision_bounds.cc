// Decisions about one output, whose near ties error bounds distinguish.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "compare/functions/comparison.h"
#include "compare/functions/error_bound.h"
#include "decide/kinds/decision.h"
#include "decide/kinds/tie_limits.h"
#include "decide/labels/label_scores.h"
#include "run/comparison/decision_run.h"
#include "run/live/pair_error_bounds.h"
#include "vernier/compare_options.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

/// What an error bound allows, and whether the output is over it: then two correct sides would have
/// differed less.
struct Allowed {
  AllowedDifference difference;
  bool exceeded = false;
};

// Twice the bound is the limit of near ties. Where that is all of the value that decided, as of a
// probability, no margin is beyond it, unless values are below 0.
bool SeparatesNothing(const BoundVerdict& verdict, const Tensor& first, const Tensor& second) {
  return 2 * verdict.rtol >= 1 && !HasNegative(first) && !HasNegative(second);
}

std::optional<Allowed> AllowedBy(const BoundVerdict& verdict, const Tensor& first,
                                 const Tensor& second) {
  if (!std::isfinite(verdict.atol) || !std::isfinite(verdict.rtol)) return std::nullopt;
  if (SeparatesNothing(verdict, first, second)) return std::nullopt;
  return Allowed{{verdict.atol, verdict.rtol}, !verdict.passed};
}

// What the bound of --tolerance auto allows; none where there is no such bound, and of boxes, whose
// outputs mix places with scores: a bound of all elements says nothing about a score.
std::optional<Allowed> AllowedBy(const IterationComparison* comparison,
                                 const DecisionPlan& decision, const NamedTensor& first,
                                 const Tensor& second) {
  if (comparison == nullptr || decision.kind == DecisionKind::kBoxes) return std::nullopt;
  const auto output = std::ranges::find(comparison->outputs, first.name, &OutputComparison::a_name);
  if (output == comparison->outputs.end()) return std::nullopt;
  const auto* data = output->FindData<SimpleResult>(CompareFunction::kSimple);
  if (data == nullptr || !data->bound) return std::nullopt;
  return AllowedBy(*data->bound, first.tensor, second);
}

// What `bound` allows. A bound that outputs of nothing in common are within separates nothing.
std::optional<Allowed> AllowedByBound(const ErrorBound* bound, const Tensor& first,
                                      const Tensor& second) {
  if (bound == nullptr) return std::nullopt;
  const Result<BoundVerdict> verdict = MeasureAgainstBound(first, second, *bound);
  if (!verdict.ok() || verdict->bound >= 1) return std::nullopt;
  return AllowedBy(*verdict, first, second);
}

bool AnyNearTieOrClear(const std::vector<DecisionSample>& samples) {
  return std::ranges::any_of(samples, [](const DecisionSample& sample) {
    return sample.flip == Flip::kNearTie || sample.flip == Flip::kClear;
  });
}

// Marks the clear flips by bounds that right outputs may be over: those that noise like that of the
// other values explains, and those whose other values are too near to 0 to have any, as of a
// saturated softmax. Where the others are equal, the run's margins have to tell (near_tie of 0).
Status MarkUnproven(const DecisionPlan& decision, const Tensor& first, const Tensor& second,
                    std::vector<DecisionSample>& samples) {
  const auto is_clear = [](const DecisionSample& one) { return one.flip == Flip::kClear; };
  if (std::ranges::none_of(samples, is_clear)) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DecisionSample> by_noise,
                           vernier::Decide(decision, first, second, {}, {}));
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!is_clear(samples[i])) continue;
    const double limit = by_noise[i].near_tie, margin = ClearMargin(samples[i]);
    samples[i].over_bound = margin <= kMostNoiseLimits * limit || by_noise[i].over_bound ||
                            limit < kLeastNoiseShare * margin;
    if (limit == 0) samples[i].near_tie = 0;
  }
  return {};
}

}  // namespace

// Without a bound of the comparison's own, one is asked for where it distinguishes flips.
Result<ShardDecision> PairDecisions::DecideSubject(size_t plan, const DecidedSides& given,
                                                   const Subject& subject) const {
  const DecisionPlan& decision = options_->decisions[plan];
  const Tensor &a = subject.first.tensor, &b = subject.second.tensor;
  std::optional<Allowed> allowed = AllowedBy(given.comparison, decision, subject.first, b);
  const auto decide = [&] {
    const auto difference = allowed ? std::optional(allowed->difference) : std::nullopt;
    return vernier::Decide(decision, a, b, difference, options_->near_tie);
  };
  ShardDecision made;
  VERNIER_ASSIGN_OR_RETURN(std::vector<DecisionSample> samples, decide());
  const bool may_ask = !allowed && given.bounds && decision.kind != DecisionKind::kBoxes;
  const bool no_flips = may_ask && !AnyNearTieOrClear(samples);
  if (may_ask && !no_flips) {
    for (const IterationResult* side : {&given.sides.a(), &given.sides.b()}) {
      for (const NamedTensor& output : side->outputs) {
        if (given.device != nullptr) VERNIER_TRY(given.device->Fetch(output.tensor));
      }
    }
    allowed = AllowedByBound(given.bounds().Find(subject.first.name), a, b);
    if (allowed) {
      VERNIER_ASSIGN_OR_RETURN(samples, decide());
    }
  }
  if (allowed && !given.firm && !options_->near_tie) {
    VERNIER_TRY(MarkUnproven(decision, a, b, samples));
  }
  made.row = {subject.first.name, decision.text, std::move(samples)};
  made.row.classes = CountClasses(decision, a.dims());
  made.bounded = allowed.has_value() || no_flips;
  made.over_bound = allowed && allowed->exceeded;
  return made;
}

}  // namespace vernier
