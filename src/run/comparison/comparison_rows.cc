// What the comparison of an iteration leaves behind: rows, parts of shards, and what they fold to.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/shards/folded_comparison.h"
#include "util/counted.h"
#include "vernier/compare_options.h"

namespace vernier {

// `given`: the outputs before post-processing, where decisions take those.
Status ComparisonRun::CompareOne(Pair& pair, int64_t iteration, const IterationOutputs& outputs,
                                 const IterationOutputs& given) {
  VERNIER_ASSIGN_OR_RETURN(IterationComparison comparison, CompareSides(pair, iteration, outputs));
  if (positions_ != nullptr) VERNIER_TRY(positions_->CheckFit(comparison));
  JudgeStepTokens(pair, iteration, comparison);
  // What is post-processed has bounds of its own.
  VERNIER_ASSIGN_OR_RETURN(std::vector<DecisionRow> decisions,
                           given.empty() ? DecidePair(pair, iteration, outputs, &comparison)
                                         : DecidePair(pair, iteration, given, nullptr));
  if (steps_ != nullptr && pair.padded.Take(comparison, iteration)) {
    const int64_t step = steps_->timeline().Of(iteration).step;
    return KeepRow(pair, iteration, step, {}, std::move(decisions));
  }
  VERNIER_TRY(AddRows(pair, iteration, comparison, std::move(decisions)));
  if (crossing_) VERNIER_TRY(AddCrossed(pair, iteration, outputs, comparison));
  observer_->PairCompared(comparison);
  // What a shard's others have found before that is not known here: `merge` ends there.
  const bool may_end = plan_->compare->fail_fast && JudgesElements() && shard_ == nullptr;
  if (may_end && !comparison.passed()) stopped_ = true;
  // Polygraphy gives up where nothing has a counterpart; we go on and say so at the end.
  if (plan_->lenient && !comparison.compared_something()) stopped_ = invalid_ = true;
  return {};
}

Status ComparisonRun::AddRows(Pair& pair, int64_t iteration, const IterationComparison& comparison,
                              std::vector<DecisionRow> decisions) {
  std::vector<OutputRow> rows = pair.recorder.Add(comparison, iteration);
  int64_t step = 0;
  if (steps_ != nullptr) {
    const StepPosition position = steps_->timeline().Of(iteration);
    pair.times.Add(position, comparison, rows);
    step = position.step;
  }
  if (shard_ != nullptr) {
    const auto place = static_cast<size_t>(&pair - pairs_.data());
    shard_->AddPair(place, comparison, rows, pair.recorder, pair.matching.swap(), iteration);
  }
  return KeepRow(pair, iteration, step, std::move(rows), std::move(decisions));
}

// An output that no step was compared of has not been looked at.
void ComparisonRun::AddPadded(const Pair& pair, PairRecord& record, RunFaults& faults,
                              RunRecord& run) {
  const PaddedSteps::Sentences padded = pair.padded.AddTo(pair.recorder, record);
  for (const std::string& note : padded.notes) run.notes.push_back(pair.label() + ": " + note);
  for (const std::string& sentence : padded.unverified) {
    faults.incomplete = true;
    run.faults.push_back(pair.label() + ": " + sentence);
  }
}

Status ComparisonRun::KeepRow(const Pair& pair, int64_t iteration, int64_t step,
                              std::vector<OutputRow> rows, std::vector<DecisionRow> decisions) {
  if (rows_ == nullptr) return {};
  const TokensOfStep* const tokens = pair.tokens.At(iteration);
  return rows_->Add({.index = iteration,
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
  end.unfit_labels = label_faults_;
  if (plan_->shard.wanted()) {
    end.shard =
        RowsShard{plan_->shard.number, plan_->shard.count, shard_ == nullptr ? "" : shard_->run()};
  }
  const auto is_in = [](const std::vector<std::string>& sentences, const std::string& one) {
    return std::ranges::find(sentences, one) != sentences.end();
  };
  const bool whole =
      !faults.incomplete && !faults.backend && faults.signal == 0 && record.error.empty();
  for (const std::string& fault : record.faults) {
    if (whole || is_in(gate_faults_, fault) || is_in(label_faults_, fault)) continue;
    end.not_done.push_back(fault);
  }
  if (faults.signal != 0 && end.not_done.empty()) {
    end.not_done.emplace_back("the run was interrupted");
  }
  if (!stopped_) return end;
  for (size_t i = 0; i < std::min(pairs_.size(), record.pairs.size()); ++i) {
    const PairRecord& pair = record.pairs[i];
    if (pair.compared_iterations >= pair.expected_iterations) continue;
    end.not_done.push_back(
        pairs_[i].label() + ": the comparison ended early, behind " +
        CountedOf(pair.compared_iterations, pair.expected_iterations, "iteration"));
  }
  return end;
}

Result<bool> ComparisonRun::Fold(size_t place, int64_t iteration, ShardPair kept) {
  Pair& pair = pairs_[place];
  VERNIER_ASSIGN_OR_RETURN(const IterationComparison comparison, RestoreComparison(kept));
  VERNIER_TRY(CheckRowsTaken(iteration, comparison, rows_taken_));
  std::vector<OutputRow> rows;
  rows.reserve(kept.outputs.size());
  for (ShardOutput& output : kept.outputs) rows.push_back(std::move(output.row));
  pair.recorder.Fold(comparison, rows, [&](size_t output) {
    OutputFigures figures = kept.outputs[output].figures.value_or(OutputFigures());
    figures.iteration = iteration;  // images that were skipped before it are no iterations
    return figures;
  });
  pair.matching.TakeFound(pair.matching.left_out(), kept.swap);
  VERNIER_ASSIGN_OR_RETURN(std::vector<DecisionRow> decisions,
                           pair.decisions.Fold(iteration, 0, std::move(kept.decisions), nullptr));
  VERNIER_TRY(KeepRow(pair, iteration, 0, std::move(rows), std::move(decisions)));
  if (plan_->compare->fail_fast && JudgesElements() && !comparison.passed()) stopped_ = true;
  return !stopped_;
}

void ComparisonRun::FoldPictures(int64_t iteration, std::vector<ShardPicture> pictures) {
  std::vector<const WorstFlip*> worst;
  for (const Pair& pair : pairs_) pair.decisions.AddWorst(worst);
  flip_pictures_.Take(iteration, std::move(pictures), worst);
}

Status ComparisonRun::NoteFeed(int64_t iteration, const TensorMap& feed,
                               const StepSequence* steps) {
  if (labels_ != nullptr) VERNIER_TRY(labels_->NoteFeed(iteration, feed));
  if (positions_ == nullptr || pairs_.empty()) return {};
  return positions_->Note(iteration, feed, steps);
}

void ComparisonRun::SetPositions(int64_t iteration) {
  if (positions_ == nullptr) return;
  StepPosition position{iteration};
  if (steps_ != nullptr) position = steps_->timeline().Of(iteration);
  positions_->Forget(iteration - 1);
  detail_.positions = positions_->For(iteration, position, steps_ != nullptr);
}

void ComparisonRun::SetPositions(const Pair& pair, const MatchedSides& sides) {
  if (detail_.positions == nullptr) return;
  detail_.positions = positions_->ForPair(mask_axes_, {pair.first, pair.second}, sides);
}

}  // namespace vernier
