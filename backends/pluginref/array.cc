#include "array.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace vernier::pluginref {
namespace {

// Of a binary floating-point format of 16 bits.
struct SmallFormat {
  int fraction_bits;
  int least_exponent;  // of a normal number
  int exponent_bias;
  double largest;
};
constexpr SmallFormat kHalf{10, -14, 15, 65504};
constexpr SmallFormat kBrain{7, -126, 127, 3.3895313892515355e38};

double Decode(uint16_t code, const SmallFormat& format) {
  const int exponent_bits = 15 - format.fraction_bits;
  const int fraction = code & ((1 << format.fraction_bits) - 1);
  const int exponent = (code >> format.fraction_bits) & ((1 << exponent_bits) - 1);
  const double sign = (code & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const int hidden = exponent != 0 ? 1 << format.fraction_bits : 0;
  const int power = std::max(exponent, 1) - format.exponent_bias - format.fraction_bits;
  return sign * std::ldexp(hidden + fraction, power);
}

uint16_t Encode(double value, const SmallFormat& format) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto infinity =
      static_cast<uint16_t>(0x7fff >> format.fraction_bits << format.fraction_bits);
  if (std::isnan(value)) {
    return static_cast<uint16_t>(sign | infinity | 1 << (format.fraction_bits - 1));
  }
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return sign | infinity;
  const int exponent = std::max(std::ilogb(magnitude), format.least_exponent);
  const int power = exponent - format.fraction_bits;
  // Scaling by a power of two is exact; nearbyint rounds ties to even.
  const double units = std::nearbyint(std::ldexp(magnitude, -power));
  if (std::ldexp(units, power) > format.largest) return sign | infinity;
  const int biased = exponent + format.exponent_bias;
  const int hidden = 1 << format.fraction_bits;
  // A carry out of the fraction runs into the exponent, as it should. Subnormals have no hidden
  // bit.
  const int code = static_cast<int>(units) + ((biased - 1) * hidden);
  return static_cast<uint16_t>(sign | code);
}

// Of no elements there are no addresses either, which memcpy must not get.
template <typename T>
std::vector<T> Elements(const Array& array) {
  std::vector<T> values(array.bytes->size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), array.bytes->data(), values.size() * sizeof(T));
  }
  return values;
}

template <typename T>
std::vector<double> ReadAs(const Array& array) {
  const std::vector<T> values = Elements<T>(array);
  return {values.begin(), values.end()};
}

std::vector<double> ReadSmall(const Array& array, const SmallFormat& format) {
  std::vector<double> out;
  for (const uint16_t code : Elements<uint16_t>(array)) out.push_back(Decode(code, format));
  return out;
}

Array MakeSmall(DType dtype, Dims dims, std::span<const double> values, const SmallFormat& format) {
  std::vector<uint16_t> codes(values.size());
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = Encode(values[i], format);
  return MakeArray<uint16_t>(dtype, std::move(dims), codes);
}

template <typename T>
std::vector<int64_t> IntegersAs(const Array& array) {
  const std::vector<T> values = Elements<T>(array);
  return {values.begin(), values.end()};
}

}  // namespace

std::string ShapeText(std::span<const int64_t> dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

Result<size_t> CountOf(std::span<const int64_t> dims) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max() / 32;
  size_t count = 1;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return Malformed("the shape " + ShapeText(dims) + " has a negative size");
    if (dim == 0) empty = true;
    if (dim > 0 && __builtin_mul_overflow(count, static_cast<size_t>(dim), &count)) count = kMost;
    if (count >= kMost) return Malformed("the shape " + ShapeText(dims) + " is larger than memory");
  }
  return empty ? 0 : count;
}

size_t Product(std::span<const int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

bool IsFloat(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

std::vector<double> ReadFloats(const Array& array) {
  switch (array.dtype) {
    case DType::kFloat32:
      return ReadAs<float>(array);
    case DType::kFloat64:
      return ReadAs<double>(array);
    case DType::kFloat16:
      return ReadSmall(array, kHalf);
    default:
      return ReadSmall(array, kBrain);
  }
}

Array MakeFloats(DType dtype, Dims dims, std::span<const double> values) {
  switch (dtype) {
    case DType::kFloat64:
      return MakeArray<double>(dtype, std::move(dims), values);
    case DType::kFloat16:
      return MakeSmall(dtype, std::move(dims), values, kHalf);
    case DType::kBFloat16:
      return MakeSmall(dtype, std::move(dims), values, kBrain);
    default:
      break;
  }
  const std::vector<float> rounded(values.begin(), values.end());
  return MakeArray<float>(DType::kFloat32, std::move(dims), rounded);
}

std::optional<std::vector<int64_t>> ReadIntegers(const Array& array) {
  if (array.dtype == DType::kInt64) return IntegersAs<int64_t>(array);
  if (array.dtype == DType::kInt32) return IntegersAs<int32_t>(array);
  return std::nullopt;
}

}  // namespace vernier::pluginref
