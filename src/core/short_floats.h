// The numbers that short float types can hold.
#pragma once

#include <cmath>

#include "vernier/dtype.h"

namespace vernier {

/// The distance from 1 to the next number of float16 or bfloat16; 0 of all other types.
constexpr double StepOf(DType dtype) {
  if (dtype == DType::kFloat16) return 0x1p-10;
  return dtype == DType::kBFloat16 ? 0x1p-7 : 0;
}

/// The least number above 0 of the short type with that step; 0 of all other types.
constexpr double LeastOf(double step) {
  if (step == StepOf(DType::kFloat16)) return 0x1p-24;
  return step == StepOf(DType::kBFloat16) ? 0x1p-133 : 0;
}

/// The distance between neighbours of a type with that step, next to a number of this magnitude:
/// that of subnormal numbers is the least number.
inline double SpacingAt(double magnitude, double step) {
  if (step == 0 || magnitude == 0) return 0;
  const double spacing = std::scalbn(step, std::ilogb(magnitude));
  const double least = LeastOf(step);
  return spacing < least ? least : spacing;
}

}  // namespace vernier
