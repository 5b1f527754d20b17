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

/// The distance between neighbours of a type with that step, next to a number of this magnitude.
inline double SpacingAt(double magnitude, double step) {
  if (step == 0 || magnitude == 0) return 0;
  return std::scalbn(step, std::ilogb(magnitude));
}

}  // namespace vernier
