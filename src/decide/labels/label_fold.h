// How right the decisions of both sides are, over all samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decide/figures/intervals.h"
#include "vernier/decision_record.h"

namespace vernier {

/// A change of a metric that is worth seeing: in its units, or as a share of the first side's
/// value.
struct LabelChange {
  double size = 0.01;
  bool relative = false;
};

/// Counts samples that are right or wrong; of maps and regression, whose scores are none of both,
/// it keeps two numbers a sample for the bootstrap, and of errors two or three more.
class LabelFold {
 public:
  /// `kind` is that of the decision, as typed.
  explicit LabelFold(std::string_view kind = "");

  /// A sample without scores is left out. If it has a label, which could not be judged, no figure
  /// is that of all samples, and the fold is empty.
  void Add(const DecisionSample& sample);
  bool empty() const { return samples_ == 0 || any_unjudged_; }

  /// `kind` is that of the decision, as typed. Of maps, and of errors, the intervals are NaN.
  LabelRecord Record(std::string_view kind, LabelChange change) const;

  /// Of these, 95 % intervals by the bootstrap.
  void AddIntervals(uint64_t seed, LabelRecord& record) const;

 private:
  void AddErrors(LabelRecord& record) const;

  bool is_regression_ = false;
  bool any_unjudged_ = false;
  PairedCounts counts_;
  int64_t wrong_to_wrong_ = 0;
  int64_t samples_ = 0;
  double first_sum_ = 0, second_sum_ = 0;
  std::vector<double> first_, second_;  // of maps and regression
  // As DecisionSample has them; none where a sample lacks them.
  std::vector<double> first_errors_, second_errors_, sizes_;
};

/// Samples by which side is right; of maps all are neither's.
PairedCounts CountsOf(const LabelRecord& labels);

/// Whether the metric is a mean of scores, not a share of right samples.
bool IsMeanScore(const LabelRecord& labels);

/// Whether it is an error: less is better, in units of the output.
bool IsError(const LabelRecord& labels);

}  // namespace vernier
