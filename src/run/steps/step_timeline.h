// Which step of which sequence an iteration is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vernier/input_plan.h"

namespace vernier {

struct StepPosition {
  int64_t sequence = 0;
  int64_t step = 0;
  int64_t steps = 1;  ///< of this sequence

  bool last() const { return step + 1 == steps; }
  bool operator==(const StepPosition&) const = default;
};

/// Iterations are numbered in the order of sequences and their steps.
class StepTimeline {
 public:
  /// The next sequence. One that was added before (runners take turns) changes nothing, but the
  /// last one may get another length, before its second step.
  void Add(int64_t sequence, int64_t steps);

  /// Of an iteration of a sequence that was added, or the first behind them.
  StepPosition Of(int64_t iteration) const;

  /// Steps of each sequence.
  const std::vector<int64_t>& lengths() const { return lengths_; }

 private:
  std::vector<int64_t> lengths_;
  std::vector<int64_t> starts_;  // the iterations that are step 0
};

/// Where no sequence of these lengths has a second step, and the plan says what that would be fed
/// with: a sentence. Empty: one has, or nothing goes on.
std::string DescribeOneStep(const StepPlan& plan, std::span<const int64_t> lengths);

}  // namespace vernier
