// An output's error at each step, thinned where there are many.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vernier/run_record.h"

namespace vernier {

class StepCurve {
 public:
  static constexpr int64_t kMostPoints = 1000;

  /// What was measured at a step of a sequence, from 0; steps come in any order. NaN is worse than
  /// any number.
  void Add(int64_t step, std::optional<double> rms, std::optional<double> times_over);

  /// In the order of steps, at most kMostPoints; those at which nothing was measured are absent. A
  /// point has the worst of its steps, of all sequences, and is at the first of them.
  std::vector<StepPoint> Points() const;
  /// The steps that a point stands for: a power of 2.
  int64_t steps_per_point() const { return width_; }

 private:
  void Halve();

  int64_t width_ = 1;
  std::vector<StepPoint> bins_;  // one for every `width_` steps
};

}  // namespace vernier
