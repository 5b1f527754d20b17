#include "inputs/float_encode.h"

#include <bit>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleBias = 1023;

// value >> shift, rounded to nearest, ties to even, without a branch: what a random mantissa takes
// cannot be predicted.
uint64_t RoundedShift(uint64_t value, int shift) {
  // 53 bits shifted by 55 or more are below a quarter of the last place.
  if (shift > kDoubleMantissaBits + 2) return 0;
  const uint64_t odd = (value >> shift) & 1;
  return (value + (uint64_t{1} << (shift - 1)) - 1 + odd) >> shift;
}

}  // namespace

std::optional<NarrowFloat> NarrowFloat::Of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return NarrowFloat(5, 10, 15, Specials::kInfinityAndNan);
    case DType::kBFloat16:
      return NarrowFloat(8, 7, 127, Specials::kInfinityAndNan);
    case DType::kFloat8E4M3FN:
      return NarrowFloat(4, 3, 7, Specials::kOneNanPerSign);
    case DType::kFloat8E4M3FNUZ:
      return NarrowFloat(4, 3, 8, Specials::kNanIsMinusZero);
    case DType::kFloat8E5M2:
      return NarrowFloat(5, 2, 15, Specials::kInfinityAndNan);
    case DType::kFloat8E5M2FNUZ:
      return NarrowFloat(5, 2, 16, Specials::kNanIsMinusZero);
    case DType::kFloat4E2M1:
      return NarrowFloat(2, 1, 1, Specials::kNone);
    default:
      return std::nullopt;
  }
}

uint32_t NarrowFloat::LargestFiniteCode() const {
  const uint32_t all_ones = SignBit() - 1;
  switch (specials_) {
    case Specials::kInfinityAndNan:
      return all_ones - (1u << mantissa_bits_);
    case Specials::kOneNanPerSign:
      return all_ones - 1;
    default:
      return all_ones;
  }
}

uint32_t NarrowFloat::NanCode() const {
  switch (specials_) {
    // The quiet NaN without payload.
    case Specials::kInfinityAndNan:
      return LargestFiniteCode() + 1 + (1u << (mantissa_bits_ - 1));
    case Specials::kOneNanPerSign:
      return SignBit() - 1;
    case Specials::kNanIsMinusZero:
      return SignBit();
    case Specials::kNone:
      return 0;
  }
  return 0;
}

uint16_t NarrowFloat::Encode(double value) const {
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool one_nan = specials_ == Specials::kNanIsMinusZero;
  const uint32_t sign = (bits >> 63) != 0 ? SignBit() : 0;
  if (std::isnan(value)) {
    // ml_dtypes gives float4 the zero of the other sign.
    if (specials_ == Specials::kNone) return static_cast<uint16_t>(sign ^ SignBit());
    return static_cast<uint16_t>(one_nan ? NanCode() : NanCode() | sign);
  }

  const int exponent = static_cast<int>((bits >> kDoubleMantissaBits) & 0x7ff) - kDoubleBias;
  const uint64_t mantissa =
      (bits & ((uint64_t{1} << kDoubleMantissaBits) - 1)) | (uint64_t{1} << kDoubleMantissaBits);
  uint32_t code = LargestFiniteCode() + 1;
  const int smallest_exponent = 1 - bias_;
  if (exponent < smallest_exponent) {
    // Subnormal here. A double's own subnormals are far below every type's smallest value.
    const int shift = kDoubleMantissaBits - mantissa_bits_ + smallest_exponent - exponent;
    code = static_cast<uint32_t>(RoundedShift(mantissa, shift));
  } else if (exponent <= bias_ + 1) {
    // Adding lets a carry out of the mantissa raise the exponent.
    const uint64_t rounded = RoundedShift(mantissa, kDoubleMantissaBits - mantissa_bits_);
    code = static_cast<uint32_t>(rounded) +
           (static_cast<uint32_t>(exponent - smallest_exponent) << mantissa_bits_);
  }
  if (code > LargestFiniteCode()) {
    if (one_nan) return static_cast<uint16_t>(NanCode());
    if (specials_ == Specials::kOneNanPerSign) return static_cast<uint16_t>(NanCode() | sign);
    code = LargestFiniteCode() + (specials_ == Specials::kInfinityAndNan ? 1 : 0);
  }
  if (code == 0 && one_nan) return 0;
  return static_cast<uint16_t>(code | sign);
}

double NarrowFloat::LargestFinite() const {
  const uint32_t code = LargestFiniteCode();
  const uint32_t one = 1u << mantissa_bits_;
  const uint32_t mantissa = one | (code & (one - 1));
  const int exponent = static_cast<int>(code >> mantissa_bits_) - bias_ - mantissa_bits_;
  return std::ldexp(static_cast<double>(mantissa), exponent);
}

double LargestFinite(DType dtype) {
  if (const std::optional<NarrowFloat> narrow = NarrowFloat::Of(dtype)) {
    return narrow->LargestFinite();
  }
  if (dtype == DType::kFloat32) return std::numeric_limits<float>::max();
  return dtype == DType::kFloat64 ? std::numeric_limits<double>::max() : 0;
}

}  // namespace vernier
