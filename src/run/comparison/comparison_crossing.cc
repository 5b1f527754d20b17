// Of steps: whether its history explains what the second side of a pair gives (--state cross),
// which outputs are states, and sides that took all steps at once.
#include <algorithm>
#include <iterator>
#include <utility>

#include "run/comparison/comparison_run.h"
#include "run/comparison/output_row.h"
#include "run/steps/whole_sequence.h"

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
  TakeStates(pair, iteration, sides);
  VERNIER_ASSIGN_OR_RETURN(const IterationComparison crossed,
                           CompareMatched(pair, iteration, outputs, sides));
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

// Leaves the pairs of states in the place of `sides` that are not compared at this step.
std::vector<OutputPair> ComparisonRun::TakeStates(const Pair& pair, int64_t iteration,
                                                  MatchedSides& sides) const {
  std::vector<OutputPair> states;
  if (steps_ == nullptr || steps_->plan().compare_state || scripts_.comparison != nullptr) {
    return states;
  }
  const StepPosition position = steps_->timeline().Of(iteration);
  if (position.step == 0 || position.last()) return states;
  std::vector<OutputPair> others;
  for (const OutputPair& outputs : sides.pairing.pairs) {
    const bool state = steps_->IsState(pair.first, sides.a().outputs[outputs.a].name) ||
                       steps_->IsState(pair.second, sides.b().outputs[outputs.b].name);
    (state ? states : others).push_back(outputs);
  }
  if (others.empty()) return others;
  sides.pairing.pairs = std::move(others);
  return states;
}

}  // namespace vernier
