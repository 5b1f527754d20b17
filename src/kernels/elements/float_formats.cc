#include "kernels/elements/float_formats.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace vernier {
namespace {

// How the patterns with the largest exponent, and that of negative zero, are read.
enum class Specials { kIeee, kLastIsNan, kNegativeZeroIsNan, kNone };

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
};

constexpr float PowerOfTwo(int exponent) {
  float value = 1;
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

constexpr float Decode(const Format& format, unsigned bits) {
  const unsigned width = static_cast<unsigned>(format.exponent_bits + format.mantissa_bits);
  const unsigned magnitude = bits & ((1u << width) - 1);
  const bool negative = ((bits >> width) & 1u) != 0;
  const unsigned mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const unsigned exponent = magnitude >> format.mantissa_bits;
  const unsigned last = (1u << format.exponent_bits) - 1;
  constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();
  const float nan = negative ? -kQuietNan : kQuietNan;
  if (format.specials == Specials::kIeee && exponent == last) {
    if (mantissa != 0) return nan;
    return negative ? -std::numeric_limits<float>::infinity()
                    : std::numeric_limits<float>::infinity();
  }
  if (format.specials == Specials::kLastIsNan && magnitude == (1u << width) - 1) return nan;
  if (format.specials == Specials::kNegativeZeroIsNan && negative && magnitude == 0) return nan;
  const float fraction =
      static_cast<float>(mantissa) / static_cast<float>(1u << format.mantissa_bits);
  const float value = exponent == 0
                          ? fraction * PowerOfTwo(1 - format.bias)
                          : (1 + fraction) * PowerOfTwo(static_cast<int>(exponent) - format.bias);
  return negative ? -value : value;
}

template <size_t kCount>
constexpr std::array<float, kCount> MakeTable(Format format) {
  std::array<float, kCount> table{};
  for (unsigned bits = 0; bits < kCount; ++bits) table[bits] = Decode(format, bits);
  return table;
}

constexpr auto kE4M3FN = MakeTable<256>({4, 3, 7, Specials::kLastIsNan});
constexpr auto kE4M3FNUZ = MakeTable<256>({4, 3, 8, Specials::kNegativeZeroIsNan});
constexpr auto kE5M2 = MakeTable<256>({5, 2, 15, Specials::kIeee});
constexpr auto kE5M2FNUZ = MakeTable<256>({5, 2, 16, Specials::kNegativeZeroIsNan});
constexpr auto kE2M1 = MakeTable<16>({2, 1, 1, Specials::kNone});

}  // namespace

const float* SmallFloatTable(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN:
      return kE4M3FN.data();
    case DType::kFloat8E4M3FNUZ:
      return kE4M3FNUZ.data();
    case DType::kFloat8E5M2:
      return kE5M2.data();
    case DType::kFloat8E5M2FNUZ:
      return kE5M2FNUZ.data();
    case DType::kFloat4E2M1:
      return kE2M1.data();
    default:
      return nullptr;
  }
}

uint16_t DoubleToHalf(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u);
  const double magnitude = std::fabs(value);
  // 65520 is half way between the largest finite value and the next step.
  if (magnitude >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x1p-14) {
    // nearbyint rounds to even in the default mode; 1024 carries into the first normal number.
    return static_cast<uint16_t>(sign | static_cast<unsigned>(std::nearbyint(magnitude * 0x1p24)));
  }
  const int exponent = std::ilogb(magnitude);
  const auto mantissa = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A mantissa of 2048 carries into the exponent by the addition.
  return static_cast<uint16_t>(sign |
                               ((static_cast<unsigned>(exponent + 15) << 10) + mantissa - 1024u));
}

}  // namespace vernier
