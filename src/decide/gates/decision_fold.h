// The figures of a decision over all samples, folded from them in their order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decide/figures/sample_totals.h"
#include "decide/gates/same_answers.h"
#include "decide/kinds/tie_limits.h"
#include "decide/labels/label_fold.h"
#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"

namespace vernier {

/// NaN on both sides, for example from a broken input, which no candidate could have decided.
inline bool IsInvalidOnBothSides(const DecisionSample& sample) {
  return sample.flip == Flip::kInvalid && sample.first == "invalid" && sample.second == "invalid";
}

/// Constant memory: counts, a histogram that widens by doubling, and the worst flips. The same
/// samples in the same order give the same bits.
class DecisionFold {
 public:
  DecisionFold(std::string output, std::string kind, int64_t keep_worst, LabelChange change = {});

  void Add(int64_t iteration, int64_t step, const std::vector<DecisionSample>& samples);
  DecisionRecord Record() const;
  /// Valid until the next Add().
  const std::vector<WorstFlip>& worst() const { return record_.worst; }
  /// The same with the intervals that are drawn, with `seed`, which takes a while.
  DecisionRecord FinalRecord(uint64_t seed) const;

 private:
  void SettleByRun(bool one_margin, DecisionRecord& record) const;

  DecisionRecord record_;
  LabelFold labels_;
  SampleTotals totals_;
  SameAnswers answers_;
  LabelChange change_;
  double similarity_sum_ = 0;
  int64_t without_any_ = 0;     // samples in which neither side found what the kind looks for
  int64_t all_above_ = 0;       // samples that show nothing: DecisionSample::all_above
  bool any_map_ = false;        // of several positions, which have a margin each
  int64_t without_margin_ = 0;  // samples whose margin is 0
  TieLimits limits_;
  size_t keep_worst_;
};

/// A decision's limit of --max-drop; 0.01 if it has none, or 0.
LabelChange ChangeWorthSeeing(const DecisionOptions& options, const std::string& output,
                              const std::string& kind);

}  // namespace vernier
