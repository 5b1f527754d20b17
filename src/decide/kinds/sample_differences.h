// How much the samples of a decision differ between the sides, all of them together.
#pragma once

#include <cstdint>

#include "vernier/decision_record.h"

namespace vernier {

class SampleDifferences {
 public:
  /// `least_alike`: samples with a similarity below it are unlike.
  explicit SampleDifferences(double least_alike) : least_alike_(least_alike) {}

  void Add(const DecisionSample& sample);

  int64_t samples() const { return samples_; }
  bool IsUnlike(const DecisionSample& sample) const { return sample.similarity < least_alike_; }
  /// Whether more than half of the samples flip, or are unlike, beyond what chance explains.
  bool MostFlip() const;
  bool MostDiffer() const;
  /// Whether boxes are lost and not invented, or the reverse, beyond what chance explains.
  bool AreOneSided() const;

 private:
  double least_alike_;
  int64_t samples_ = 0;
  int64_t flips_ = 0;
  int64_t unlike_ = 0;
  BoxCounts boxes_;
};

}  // namespace vernier
