// When a difference exceeds a tolerance, and how many times. Internal to kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/measures/difference.h"

namespace vernier {

// A tolerance in the type of the differences. Floats compare as float64; an integer exceeds a
// tolerance exactly when it exceeds the tolerance's whole part.
template <typename T>
class Limit {
 public:
  explicit Limit(double tolerance) : tolerance_(tolerance) {
    if constexpr (std::is_integral_v<T>) {
      never_ = !(tolerance < 0x1p64);  // also NaN: nothing is greater than NaN
      always_ = tolerance < 0;
      whole_ = never_ || always_ ? 0 : static_cast<T>(tolerance);
    }
  }
  bool Exceeded(T value) const {
    if constexpr (std::is_integral_v<T>) {
      return always_ || (!never_ && value > whole_);
    } else {
      return static_cast<double>(value) > tolerance_ || value != value;
    }
  }
  // How many times the tolerance the value is; infinite for NaN and for a tolerance of 0.
  double Ratio(T value) const {
    const double ratio = static_cast<double>(value) / tolerance_;
    return ratio == ratio ? ratio : std::numeric_limits<double>::infinity();
  }

 private:
  double tolerance_;
  bool never_ = false;
  bool always_ = false;
  T whole_{};
};

template <typename Reader>
class MismatchTest {
 public:
  using Absolute = typename Reader::Absolute;
  using Relative = typename Reader::Relative;

  explicit MismatchTest(const DifferenceRule& rule) : absolute_(rule.atol), relative_(rule.rtol) {}

  bool Fails(Absolute absolute, Relative relative) const {
    return absolute_.Exceeded(absolute) && relative_.Exceeded(relative);
  }
  double Ratio(Absolute absolute, Relative relative) const {
    return std::min(absolute_.Ratio(absolute), relative_.Ratio(relative));
  }
  int64_t Count(const Absolute* absolute, const Relative* relative, size_t n) const {
    int64_t count = 0;
    for (size_t i = 0; i < n; ++i) {
      count += (absolute_.Exceeded(absolute[i]) & relative_.Exceeded(relative[i])) ? 1 : 0;
    }
    return count;
  }

 private:
  Limit<Absolute> absolute_;
  Limit<Relative> relative_;
};

/// Where no element fails: the largest differences bound every element's ratio.
inline double PassingRatio(double max_absolute, double max_relative, const DifferenceRule& rule) {
  if (max_absolute == 0) return 0;
  const Limit<double> absolute(rule.atol);
  const Limit<double> relative(rule.rtol);
  return std::min({absolute.Ratio(max_absolute), relative.Ratio(max_relative), 1.0});
}

}  // namespace vernier
