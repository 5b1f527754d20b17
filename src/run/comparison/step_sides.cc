#include "run/comparison/step_sides.h"

#include <algorithm>
#include <utility>

#include "run/steps/whole_sequence.h"
#include "vernier/compare_options.h"

namespace vernier {

void StepSides::FitWholeSequences(const ComparedPair& pair, MatchedSides& sides) const {
  const auto takes_all = [&](size_t stream) { return steps_ != nullptr && steps_->axis(stream); };
  const bool second = pair.second_all_steps || takes_all(pair.second);
  if (!second && !pair.first_all_steps && !takes_all(pair.first)) return;
  TensorMap parts = second ? sides.b().outputs : sides.a().outputs;
  const TensorMap& others = second ? sides.a().outputs : sides.b().outputs;
  for (const OutputPair& met : sides.pairing.pairs) {
    Tensor& part = parts[second ? met.b : met.a].tensor;
    part = AsOfOneStep(part, others[second ? met.a : met.b].tensor.dims());
  }
  second ? sides.ReplaceB(std::move(parts)) : sides.ReplaceA(std::move(parts));
}

bool StepSides::IsState(const ComparedPair& pair, const std::string& first,
                        const std::string& second) const {
  return steps_ != nullptr &&
         (steps_->IsState(pair.first, first) || steps_->IsState(pair.second, second));
}

bool StepSides::MayBeLogits(const ComparedPair& pair, const std::string& first,
                            const std::string& second) const {
  const auto& named = plan_->compare->logits_axis.entries;
  const auto is_it = [&](const auto& entry) { return entry.first == first; };
  return !IsState(pair, first, second) || std::ranges::any_of(named, is_it);
}

std::vector<std::string> StepSides::TakeNoLogits(const ComparedPair& pair,
                                                 MatchedSides& sides) const {
  std::vector<std::string> taken;
  const auto& functions = plan_->compare->functions;
  const bool others = std::ranges::any_of(
      functions, [](CompareFunction function) { return function != CompareFunction::kLogits; });
  if (others || by_script_) return taken;
  std::erase_if(sides.pairing.pairs, [&](const OutputPair& outputs) {
    const std::string& first = sides.a().outputs[outputs.a].name;
    if (MayBeLogits(pair, first, sides.b().outputs[outputs.b].name)) return false;
    taken.push_back(first);
    return true;
  });
  return taken;
}

void StepSides::DropNoLogits(const ComparedPair& pair, const std::vector<std::string>& taken,
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

std::vector<OutputPair> StepSides::TakeStates(const ComparedPair& pair, int64_t iteration,
                                              MatchedSides& sides) const {
  std::vector<OutputPair> states;
  if (steps_ == nullptr || by_script_) return states;
  const StepPlan& plan = steps_->plan();
  // What was saved costs nothing to compare.
  const bool saved = plan_->runners.empty();
  if (saved || plan.compare_state || plan.state == StateSource::kReference) return states;
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

void StepSides::LeaveOutStates(const ComparedPair& pair, MatchedSides& sides) const {
  if (steps_ == nullptr) return;
  std::vector<OutputPair> kept;
  for (const OutputPair& outputs : sides.pairing.pairs) {
    const std::string& name = sides.a().outputs[outputs.a].name;
    const bool state = IsState(pair, name, sides.b().outputs[outputs.b].name);
    const auto& decisions = plan_->decisions.decisions;
    const bool named = std::ranges::find(decisions, name, &DecisionPlan::output) != decisions.end();
    if (!state || named) kept.push_back(outputs);
  }
  if (!kept.empty()) sides.pairing.pairs = std::move(kept);
}

}  // namespace vernier
