// What the comparison of an iteration leaves behind: rows, parts of shards, and what they fold to.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/shared_non_finite.h"
#include "run/comparison/comparison_run.h"
#include "run/comparison/pair_decoding.h"
#include "run/parts/folded_comparison.h"
#include "util/values/list_has.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {

// What the exit code rests on failed. Gates are about all samples, and wait for them.
bool ComparisonRun::EndsRun(const Pair& pair, const IterationComparison& comparison) const {
  if (!plan_->compare->fail_fast || comparison.passed()) return false;
  if (plan_->steps.finds_own_errors && FailsAlike(comparison)) return false;
  if (JudgesElements()) return true;
  return std::ranges::any_of(comparison.outputs, [&](const OutputComparison& output) {
    return !output.passed() && pair.decisions.LeavesToElements(output.a_name);
  });
}

// `given`: the outputs before post-processing, where decisions take those.
Status ComparisonRun::CompareOne(Pair& pair, ComparedStep step, const IterationOutputs& given) {
  const int64_t iteration = step.iteration;
  VERNIER_ASSIGN_OR_RETURN(IterationComparison comparison, CompareSides(pair, step));
  if (parts_.positions != nullptr) VERNIER_TRY(parts_.positions->CheckFit(comparison));
  if (parts_.steps != nullptr) JudgeStepTokens(*parts_.steps, iteration, comparison, pair);
  // What is post-processed has bounds of its own.
  VERNIER_ASSIGN_OR_RETURN(std::vector<DecisionRow> decisions,
                           given.empty() ? DecidePair(pair, iteration, step.outputs, &comparison)
                                         : DecidePair(pair, iteration, given, nullptr));
  if (parts_.steps != nullptr && pair.padded.Take(comparison, iteration)) {
    const int64_t place = parts_.steps->timeline().Of(iteration).step;
    return KeepRow(pair, iteration, place, {}, std::move(decisions));
  }
  VERNIER_TRY(AddRows(pair, iteration, comparison, std::move(decisions)));
  if (crossing_ != nullptr) VERNIER_TRY(AddCrossed(pair, step, comparison));
  observer_->PairCompared(comparison);
  // What a shard's others have found before that is not known here: `merge` ends there.
  if (parts_.shard == nullptr && EndsRun(pair, comparison)) end_.stopped = true;
  // Polygraphy gives up where nothing has a counterpart; we go on and say so at the end.
  if (plan_->lenient && !comparison.compared_something()) end_.stopped = end_.invalid = true;
  return {};
}

std::vector<std::string> ComparisonRun::StatesAmong(const Pair& pair,
                                                    const IterationComparison& comparison) const {
  std::vector<std::string> states;
  for (const OutputComparison& output : comparison.outputs) {
    const bool is_state = parts_.steps->IsState(pair.first, output.a_name) ||
                          parts_.steps->IsState(pair.second, output.b_name);
    if (is_state) states.push_back(output.a_name);
  }
  return states;
}

Status ComparisonRun::AddRows(Pair& pair, int64_t iteration, const IterationComparison& comparison,
                              std::vector<DecisionRow> decisions) {
  std::vector<OutputRow> rows = pair.recorder.Add(comparison, iteration);
  int64_t step = 0;
  if (parts_.steps != nullptr) {
    const StepPosition position = parts_.steps->timeline().Of(iteration);
    pair.times.Add(position, comparison, rows, StatesAmong(pair, comparison), pair.own_errors);
    pair.empty.Add(position, comparison);
    if (position.step == 0 && !position.last()) pair.recorder.NoteFirstStep(comparison);
    step = position.step;
  }
  if (parts_.shard != nullptr) {
    const auto place = static_cast<size_t>(&pair - compared_.pairs.data());
    parts_.shard->AddPair(place, comparison, rows, pair.recorder, pair.matching.swap(), iteration);
  }
  return KeepRow(pair, iteration, step, std::move(rows), std::move(decisions));
}

Status ComparisonRun::KeepRow(const Pair& pair, int64_t iteration, int64_t step,
                              std::vector<OutputRow> rows, std::vector<DecisionRow> decisions) {
  if (parts_.rows == nullptr) return {};
  const TokensOfStep* const tokens = pair.tokens.At(iteration);
  return parts_.rows->Add({.index = iteration,
                           .step = step,
                           .pair = pair.label(),
                           .input_hash = {},
                           .outputs = std::move(rows),
                           .first = pair.shown.first,
                           .second = pair.shown.second,
                           .decisions = std::move(decisions),
                           .tokens = tokens == nullptr ? std::nullopt : std::optional(*tokens)});
}

RowsEnd ComparisonRun::EndOfRows(const RunFaults& faults, const RunRecord& record) const {
  RowsEnd end;
  end.unfit_labels = rule_faults_.labels;
  if (plan_->shard.wanted()) {
    end.shard = RowsShard{plan_->shard.number, plan_->shard.count,
                          parts_.shard == nullptr ? "" : parts_.shard->run()};
  }
  const bool whole =
      !faults.incomplete && !faults.backend && faults.signal == 0 && record.error.empty();
  for (const std::string& fault : record.faults) {
    if (whole || ListHas(rule_faults_.gates, fault) || ListHas(rule_faults_.labels, fault))
      continue;
    end.not_done.push_back(fault);
  }
  if (faults.signal != 0 && end.not_done.empty()) {
    end.not_done.emplace_back("the run was interrupted");
  }
  if (!end_.stopped) return end;
  for (size_t i = 0; i < std::min(compared_.pairs.size(), record.pairs.size()); ++i) {
    const PairRecord& pair = record.pairs[i];
    if (pair.compared_iterations >= pair.expected_iterations) continue;
    end.not_done.push_back(
        compared_.pairs[i].label() + ": the comparison ended early, after " +
        CountedOf(pair.compared_iterations, pair.expected_iterations, "iteration"));
  }
  return end;
}

Result<bool> ComparisonRun::Fold(size_t place, int64_t iteration, ShardPair kept) {
  Pair& pair = compared_.pairs[place];
  VERNIER_ASSIGN_OR_RETURN(const IterationComparison comparison, RestoreComparison(kept));
  VERNIER_TRY(CheckRowsTaken(iteration, comparison, rows_taken_));
  std::vector<OutputRow> rows;
  rows.reserve(kept.outputs.size());
  for (ShardOutput& output : kept.outputs) rows.push_back(std::move(output.row));
  pair.recorder.Fold(comparison, rows, iteration, [&](size_t output) {
    OutputFigures figures = kept.outputs[output].figures.value_or(OutputFigures());
    figures.iteration = iteration;  // images that were skipped before it are no iterations
    return figures;
  });
  pair.matching.TakeFound(pair.matching.left_out(), kept.swap);
  VERNIER_ASSIGN_OR_RETURN(std::vector<DecisionRow> decisions,
                           pair.decisions.Fold(iteration, 0, std::move(kept.decisions), nullptr));
  VERNIER_TRY(KeepRow(pair, iteration, 0, std::move(rows), std::move(decisions)));
  if (EndsRun(pair, comparison)) end_.stopped = true;
  return !end_.stopped;
}

Status ComparisonRun::NoteFeed(int64_t iteration, const TensorMap& feed,
                               const StepSequence* steps) {
  if (parts_.labels != nullptr) VERNIER_TRY(parts_.labels->NoteFeed(iteration, feed));
  if (parts_.positions == nullptr || compared_.pairs.empty()) return {};
  return parts_.positions->Note(iteration, feed, steps);
}

// What is known of the positions of an iteration; null: nothing.
const FedPositions* ComparisonRun::PositionsOf(int64_t iteration) {
  if (parts_.positions == nullptr) return nullptr;
  StepPosition position{iteration};
  if (parts_.steps != nullptr) position = parts_.steps->timeline().Of(iteration);
  parts_.positions->Forget(iteration - 1);
  return parts_.positions->For(iteration, position, parts_.steps != nullptr);
}

}  // namespace vernier
