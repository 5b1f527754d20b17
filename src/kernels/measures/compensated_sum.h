// Neumaier's compensated summation.
#pragma once

#include <cmath>

namespace vernier {

class CompensatedSum {
 public:
  void Add(double value) {
    const double next = sum_ + value;
    // With an infinity the correction would be inf - inf; the plain sum is then the answer.
    if (std::isfinite(next)) {
      correction_ +=
          std::fabs(sum_) >= std::fabs(value) ? (sum_ - next) + value : (value - next) + sum_;
    }
    sum_ = next;
  }
  /// As if what `other` saw had been added.
  void Merge(const CompensatedSum& other) {
    Add(other.sum_);
    correction_ += other.correction_;
  }
  double value() const { return std::isfinite(sum_) ? sum_ + correction_ : sum_; }

 private:
  // Negative zero is the neutral element: it keeps the sign of a sum of negative zeros.
  double sum_ = -0.0;
  double correction_ = -0.0;
};

}  // namespace vernier
