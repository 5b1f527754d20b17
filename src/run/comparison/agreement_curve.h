// How many tokens of two sides agree at each step, thinned where there are many.
#pragma once

#include <cstdint>
#include <vector>

#include "vernier/decode_record.h"

namespace vernier {

class AgreementCurve {
 public:
  static constexpr int64_t kMostPoints = 1000;

  /// The token of a prompt at a step of its sequence, from 0; steps come in any order.
  void Add(int64_t step, bool agrees);

  /// In the order of steps, at most kMostPoints; those without a token are absent. A point has the
  /// tokens of its steps, of all prompts, and is at the first of them.
  std::vector<AgreementPoint> Points() const;
  /// The steps that a point stands for: a power of 2.
  int64_t steps_per_point() const { return width_; }

 private:
  void Halve();

  int64_t width_ = 1;
  std::vector<AgreementPoint> bins_;  // one for every `width_` steps
};

}  // namespace vernier
