#include "session/rows/folded_rows.h"

#include <algorithm>
#include <utility>

#include "decide/kinds/decision.h"
#include "decide/labels/label_scores.h"

namespace vernier {
namespace {

// What labels without an output are for depends on what is decided.
void NoteDecisions(const IterationRow& row, DecisionOptions& options) {
  if (!options.decisions.empty()) return;
  // Those that are selected have the same labels as in their run.
  for (const DecisionRow& decision : row.decisions) {
    Result<DecisionPlan> parsed = ParseDecision(decision.kind);
    if (!parsed.ok()) continue;
    parsed->output = decision.output;
    options.decisions.push_back(*std::move(parsed));
  }
}

FoldedDecision& FoldFor(const std::string& pair, const DecisionRow& row, const RowRules& rules,
                        std::vector<FoldedDecision>& folded) {
  const auto at = std::ranges::find_if(folded, [&](const FoldedDecision& one) {
    return one.pair == pair && one.output == row.output && one.kind == row.kind;
  });
  if (at != folded.end()) return *at;
  DecisionFold fold(row.output, row.kind, rules.options.worst_flips,
                    ChangeWorthSeeing(rules.options, row.output, row.kind));
  const Result<DecisionPlan> parsed = ParseDecision(row.kind);
  const DecisionPlan plan = parsed.ok() ? *parsed : DecisionPlan();
  const LabelTrack labels(parsed.ok() ? rules.labels.For(plan, row.output) : nullptr);
  return folded.emplace_back(
      FoldedDecision{pair, row.output, row.kind, std::move(fold), plan, labels});
}

// A flip stays one, but which are near ties follows from the limit.
void ClassifyFlips(double near_tie, std::vector<DecisionSample>& samples) {
  for (DecisionSample& sample : samples) {
    sample.near_tie = near_tie;
    sample.by_noise = sample.over_bound = false;
    if (sample.flip != Flip::kNearTie && sample.flip != Flip::kClear) continue;
    sample.flip = FlipByMargin(sample.first_margin, sample.second_margin, near_tie);
  }
}

// Labels that are given for a decision take the place of those in the rows; others stay.
void GiveLabels(const IterationRow& row, std::optional<int64_t> classes, FoldedDecision& one,
                std::vector<DecisionSample>& samples) {
  if (!one.labels.has_labels()) return;
  std::vector<std::string> before;
  for (DecisionSample& sample : samples) {
    before.push_back(sample.label);
    RemoveLabel(sample);
  }
  one.counts_classes &= classes.has_value() || one.plan.kind == DecisionKind::kRegression;
  one.labels.Score(one.plan, row.index, {nullptr, nullptr, classes}, samples);
  for (size_t i = 0; i < samples.size(); ++i) {
    const bool both = !before[i].empty() && !samples[i].label.empty();
    if (both && before[i] != samples[i].label) ++one.relabelled;
  }
}

}  // namespace

Result<FoldedRows> FoldRows(const std::string& path, const RowRules& rules) {
  const DecisionOptions& options = rules.options;
  FoldedRows folded;
  const auto take = [&](const IterationRow& row) -> Status {
    VERNIER_TRY(CountRow(path, row, folded.rows[row.pair]));
    NoteDecisions(row, rules.options);
    if (row.file) rules.labels.NoteFile(row.index, *row.file);
    folded.failed.Add(row);
    for (const std::string& why : row.end.not_done) folded.end.not_done.push_back(why);
    for (const std::string& why : row.end.unfit_labels) folded.end.unfit_labels.push_back(why);
    for (const std::string& why : row.end.passed_over) folded.end.passed_over.push_back(why);
    if (row.end.shard) folded.shards.Add(*row.end.shard);
    for (const DecisionRow& decision : row.decisions) {
      if (!rules.selection.Takes(decision)) continue;
      std::vector<DecisionSample> samples = decision.samples;
      if (options.near_tie) ClassifyFlips(*options.near_tie, samples);
      FoldedDecision& one = FoldFor(row.pair, decision, rules, folded.decisions);
      if (decision.classes) one.classes = decision.classes;
      GiveLabels(row, decision.classes, one, samples);
      one.fold.Add(row.index, row.step, samples);
      ++one.rows;
    }
    return {};
  };
  VERNIER_ASSIGN_OR_RETURN(folded.extent, ForEachDecisionRow(path, take));
  VERNIER_TRY(rules.selection.CheckFound(path));
  return folded;
}

}  // namespace vernier
