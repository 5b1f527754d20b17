// The figures of a decision over all samples, folded from them in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"

namespace vernier {

/// Constant memory: counts, a histogram that widens by doubling, and the worst flips. The same
/// samples in the same order give the same bits.
class DecisionFold {
 public:
  DecisionFold(std::string output, std::string kind, int64_t keep_worst);

  void Add(int64_t iteration, int64_t step, const std::vector<DecisionSample>& samples);
  DecisionRecord Record() const;
  /// Valid until the next Add().
  const std::vector<WorstFlip>& worst() const { return record_.worst; }

 private:
  DecisionRecord record_;
  double similarity_sum_ = 0;
  int64_t without_any_ = 0;  // samples in which neither side found what the kind looks for
  size_t keep_worst_;
};

/// Every gate of the options that is about this decision, with its verdict: the point estimate
/// against the limit; undecided where the 95 % interval contains it.
std::vector<DecisionGateRecord> JudgeDecision(const DecisionRecord& decision,
                                              const DecisionOptions& options);

}  // namespace vernier
