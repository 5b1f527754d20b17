// Arithmetic in the type of an operator's coordinates.
#pragma once

#include "vernier/dtype.h"

namespace vernier::pluginref {

/// Rounds a sum, difference, product or quotient of two numbers as float32 arithmetic does where
/// the coordinates are of that type or a smaller one: which pixel is nearest, and how many samples
/// a bin has, are decided by that rounding. (float64 has more than twice the digits, so that
/// rounding twice is rounding once.)
class CoordinateRounding {
 public:
  explicit CoordinateRounding(DType dtype) : single_(dtype != DType::kFloat64) {}
  double operator()(double value) const {
    return single_ ? static_cast<double>(static_cast<float>(value)) : value;
  }

 private:
  bool single_;
};

}  // namespace vernier::pluginref
