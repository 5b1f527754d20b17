// Prompts of a batch (--decode): whose rows are compared at a step, and which steps are.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"

namespace vernier {

// The pairs of outputs that have a row for each prompt.
std::vector<OutputPair> ComparisonRun::OutputsOfPrompts(const Pair& pair, int64_t batch,
                                                        const MatchedSides& sides) {
  const Decoding& decoding = *parts_.steps->decoding();
  const TokenPair* first = decoding.PairOf(pair.first);
  const TokenPair* second = decoding.PairOf(pair.second);
  if (first == nullptr) first = second;
  if (second == nullptr) second = first;
  std::vector<OutputPair> found;
  for (const OutputPair& met : sides.pairing.pairs) {
    const auto& [a_name, a] = sides.a().outputs[met.a];
    const auto& [b_name, b] = sides.b().outputs[met.b];
    if (!PromptRows::Fit(a, b, batch)) continue;
    const bool logits = a_name == first->logits || b_name == second->logits;
    // What a script has made is called as it likes.
    const bool named = parts_.scripts.postprocessing == nullptr &&
                       axes_.prompts.HaveRows({pair.first, first->tokens, a_name},
                                              {pair.second, second->tokens, b_name});
    if (logits || named) found.push_back(met);
  }
  return found;
}

// Without the rows of prompts that have ended: means and shares are those of the others.
Result<IterationComparison> ComparisonRun::CompareMatched(const Pair& pair,
                                                          const ComparedStep& step,
                                                          const MatchedSides& sides) {
  const std::vector<int64_t>* const going_on = pair.tokens.GoingOnAt(step.iteration);
  if (going_on == nullptr) return CompareTaken(pair, step, sides);
  const auto batch = static_cast<int64_t>(pair.tokens.At(step.iteration)->first.size());
  MatchedSides of_prompts = sides, others = sides;
  of_prompts.pairing.pairs = OutputsOfPrompts(pair, batch, sides);
  std::erase_if(others.pairing.pairs, [&](const OutputPair& met) {
    return std::ranges::find(of_prompts.pairing.pairs, met.a, &OutputPair::a) !=
           of_prompts.pairing.pairs.end();
  });
  VERNIER_ASSIGN_OR_RETURN(
      const PromptRows rows,
      PromptRows::Take({batch, *going_on}, of_prompts, step.detail.positions, detail_.device));
  ComparedStep of_rows = step;
  of_rows.detail.positions = rows.positions();
  Result<IterationComparison> comparison = CompareTaken(pair, of_rows, rows.sides());
  if (!comparison.ok()) return comparison;
  rows.Restore(sides, *comparison);
  comparison->pairing = sides.pairing;
  if (others.pairing.pairs.empty()) return comparison;
  VERNIER_ASSIGN_OR_RETURN(IterationComparison more, CompareTaken(pair, step, others));
  std::ranges::move(more.outputs, std::back_inserter(comparison->outputs));
  std::ranges::move(more.statistics, std::back_inserter(comparison->statistics));
  std::ranges::move(more.not_logits, std::back_inserter(comparison->not_logits));
  std::ranges::move(more.without_verdict, std::back_inserter(comparison->without_verdict));
  return comparison;
}

// With another history, or once all prompts have ended, a difference is no fault of the step.
Result<bool> ComparisonRun::LeaveOutStep(Pair& pair, int64_t iteration) {
  if (parts_.steps == nullptr || parts_.steps->decoding() == nullptr) return false;
  const StepPosition position = parts_.steps->timeline().Of(iteration);
  const bool after = pair.tokens.IsAfterDivergence(position) || pair.tokens.IsAfterEnd(position);
  if (!after) return false;
  pair.tokens.LeaveOut(iteration, position);
  VERNIER_TRY(KeepRow(pair, iteration, position.step, {}, {}));
  return true;
}

void ComparisonRun::LeaveOutOtherSteps(const OfOtherStates& of_other_states) {
  for (Pair& pair : compared_.pairs) {
    if (pair.maybe_other_steps.empty() || !of_other_states(pair.first, pair.second)) continue;
    pair.other_steps = std::exchange(pair.maybe_other_steps, {});
  }
}

}  // namespace vernier
