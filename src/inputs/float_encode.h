// Values to floating-point types narrower than 32 bits. The way back is
// kernels/elements/float_formats.h.
#pragma once

#include <cstdint>
#include <optional>

#include "vernier/dtype.h"

namespace vernier {

/// The layout of one narrow type, as ml_dtypes and the ONNX specification define it.
class NarrowFloat {
 public:
  /// float16, bfloat16, the four float8 types and float4_e2m1fn; nullopt for every other type.
  static std::optional<NarrowFloat> Of(DType dtype);

  /// The code of `value`, rounded once, to nearest, ties to even. What is too large becomes the
  /// infinity (float16, bfloat16, float8_e5m2), NaN (the other float8 types) or the largest value
  /// (float4). NaN keeps its sign where the type has both; float4 has none and gives a zero.
  uint16_t Encode(double value) const;

  double LargestFinite() const;

 private:
  enum class Specials : uint8_t {
    kInfinityAndNan,  ///< IEEE 754: the top exponent is infinity or NaN
    kOneNanPerSign,   ///< "fn": the top code is NaN, no infinity
    kNanIsMinusZero,  ///< "fnuz": one NaN, in the place of minus zero
    kNone,            ///< float4
  };

  constexpr NarrowFloat(int exponent_bits, int mantissa_bits, int bias, Specials specials)
      : exponent_bits_(exponent_bits),
        mantissa_bits_(mantissa_bits),
        bias_(bias),
        specials_(specials) {}

  uint32_t SignBit() const { return 1u << (exponent_bits_ + mantissa_bits_); }
  uint32_t LargestFiniteCode() const;
  uint32_t NanCode() const;

  int exponent_bits_;
  int mantissa_bits_;
  int bias_;
  Specials specials_;
};

/// The largest finite value of a float type; 0 for every other type.
double LargestFinite(DType dtype);

}  // namespace vernier
