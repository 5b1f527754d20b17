// Of steps: whether its history explains what the second side of a pair gives (--state cross),
// which outputs are states, and sides that took all steps at once.
#include <algorithm>
#include <iterator>
#include <utility>

#include "run/comparison/comparison_run.h"
#include "run/comparison/output_row.h"
#include "run/steps/whole_sequence.h"
#include "vernier/compare_options.h"

namespace vernier {

// The second side against what the first makes of its state.
Status ComparisonRun::AddCrossed(Pair& pair, int64_t iteration, const IterationOutputs& outputs,
                                 const IterationComparison& comparison) {
  const StepPosition position = steps_->timeline().Of(iteration);
  const auto add = [&](const IterationComparison& crossed) {
    std::vector<OutputRow> rows;
    std::ranges::transform(crossed.outputs, std::back_inserter(rows), MakeOutputRow);
    pair.crossed.Add(position, crossed, rows);
  };
  if (position.step == 0) {  // both have the first state
    add(comparison);
    return {};
  }
  const IterationResult& second = *outputs[pair.second];
  IterationResult first = *outputs[pair.first];
  VERNIER_ASSIGN_OR_RETURN(const MatchedSides plain,
                           pair.matching.Match(first, second, detail_.device));
  VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> made,
                           crossing_->Infer(pair.first, pair.second, plain, iteration));
  if (!made) return {};
  first.outputs = *std::move(made);
  VERNIER_TRY(PostprocessOne(iteration, first));
  VERNIER_ASSIGN_OR_RETURN(MatchedSides sides, pair.matching.Match(first, second, detail_.device));
  // States, too: a state of this step that is wrong shows in no later step of this kind.
  const std::vector<std::string> no_logits = TakeNoLogits(pair, sides);
  VERNIER_ASSIGN_OR_RETURN(IterationComparison crossed,
                           CompareMatched(pair, iteration, outputs, sides));
  DropNoLogits(pair, no_logits, crossed);
  add(crossed);
  return {};
}

// What was cut from the outputs for all steps has another rank where these have no axis for what an
// output of one step has.
void ComparisonRun::FitWholeSequences(const Pair& pair, MatchedSides& sides) const {
  if (steps_ == nullptr) return;
  const bool second = steps_->axis(pair.second).has_value();
  if (!second && !steps_->axis(pair.first)) return;
  TensorMap parts = second ? sides.b().outputs : sides.a().outputs;
  const TensorMap& others = second ? sides.a().outputs : sides.b().outputs;
  for (const OutputPair& met : sides.pairing.pairs) {
    Tensor& part = parts[second ? met.b : met.a].tensor;
    part = AsOfOneStep(part, others[second ? met.a : met.b].tensor.dims());
  }
  second ? sides.ReplaceB(std::move(parts)) : sides.ReplaceA(std::move(parts));
}

bool ComparisonRun::IsState(const Pair& pair, const std::string& first,
                            const std::string& second) const {
  return steps_ != nullptr &&
         (steps_->IsState(pair.first, first) || steps_->IsState(pair.second, second));
}

// What is fed back is no distribution over classes, unless it is named.
bool ComparisonRun::MayBeLogits(const Pair& pair, const std::string& first,
                                const std::string& second) const {
  const auto& named = plan_->compare->logits_axis.entries;
  const auto is_it = [&](const auto& entry) { return entry.first == first; };
  return !IsState(pair, first, second) || std::ranges::any_of(named, is_it);
}

// Takes those away that only --compare logits would look at; their names.
std::vector<std::string> ComparisonRun::TakeNoLogits(const Pair& pair, MatchedSides& sides) const {
  std::vector<std::string> taken;
  const auto& functions = plan_->compare->functions;
  const bool others = std::ranges::any_of(
      functions, [](CompareFunction function) { return function != CompareFunction::kLogits; });
  if (others || scripts_.comparison != nullptr) return taken;
  std::erase_if(sides.pairing.pairs, [&](const OutputPair& outputs) {
    const std::string& first = sides.a().outputs[outputs.a].name;
    if (MayBeLogits(pair, first, sides.b().outputs[outputs.b].name)) return false;
    taken.push_back(first);
    return true;
  });
  return taken;
}

// Of those that other functions look at, too, what --compare logits found.
void ComparisonRun::DropNoLogits(const Pair& pair, const std::vector<std::string>& taken,
                                 IterationComparison& comparison) const {
  constexpr const char* kWhy = "fed back";
  for (const std::string& name : taken) comparison.not_logits.emplace_back(name, kWhy);
  for (OutputComparison& output : comparison.outputs) {
    if (MayBeLogits(pair, output.a_name, output.b_name)) continue;
    const size_t dropped = std::erase_if(output.functions, [](const FunctionResult& result) {
      return result.function == CompareFunction::kLogits;
    });
    if (dropped > 0) comparison.not_logits.emplace_back(output.a_name, kWhy);
  }
}

// A state of zeros may well give nothing but zeros; the steps behind it show what they do.
void ComparisonRun::ExcuseFirstStep(int64_t iteration, IterationComparison& comparison) const {
  const StepPosition position = steps_->timeline().Of(iteration);
  if (position.step > 0 || position.last()) return;
  for (OutputComparison& output : comparison.outputs) {
    if (output.passed()) output.vacuous.clear();
  }
}

// Leaves the pairs of states in the place of `sides` that are not compared at this step. Where each
// side has its own, what is wrong with them shows behind it; what is fed to nobody, nowhere else.
std::vector<OutputPair> ComparisonRun::TakeStates(const Pair& pair, int64_t iteration,
                                                  MatchedSides& sides) const {
  std::vector<OutputPair> states;
  if (steps_ == nullptr || scripts_.comparison != nullptr) return states;
  const StepPlan& plan = steps_->plan();
  if (plan.compare_state || plan.state == StateSource::kReference) return states;
  const StepPosition position = steps_->timeline().Of(iteration);
  const bool last = position.last() || pair.tokens.IsLastOfPrompt(iteration);
  if (position.step == 0 || last) return states;
  std::vector<OutputPair> others;
  for (const OutputPair& outputs : sides.pairing.pairs) {
    const bool state =
        IsState(pair, sides.a().outputs[outputs.a].name, sides.b().outputs[outputs.b].name);
    (state ? states : others).push_back(outputs);
  }
  if (others.empty()) return others;
  sides.pairing.pairs = std::move(others);
  return states;
}

}  // namespace vernier
