// The small float formats to float, and back for float16. Every conversion to float is exact.
#pragma once

#include <bit>
#include <cstdint>

#include "vernier/dtype.h"

namespace vernier {

/// IEEE binary16. Denormals, infinities and NaN keep their meaning.
inline float HalfToFloat(uint16_t half) {
  constexpr uint32_t kExponentMask = 0x7c00u << 13;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t shifted = static_cast<uint32_t>(half & 0x7fffu) << 13;
  const uint32_t exponent = shifted & kExponentMask;
  if (exponent == kExponentMask) return std::bit_cast<float>(sign | shifted | 0x7f800000u);
  if (exponent != 0) return std::bit_cast<float>(sign | (shifted + ((127u - 15u) << 23)));
  // A denormal: borrow an exponent and let the subtraction normalise.
  const float value =
      std::bit_cast<float>(shifted + (113u << 23)) - std::bit_cast<float>(113u << 23);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
}

inline float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// The 256 values of a float8 format, by bit pattern; the 16 of float4, by its low nibble.
/// nullptr for any other type.
const float* SmallFloatTable(DType dtype);

/// To binary16 with one rounding, to nearest even.
uint16_t DoubleToHalf(double value);

}  // namespace vernier
