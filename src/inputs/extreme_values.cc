#include "inputs/extreme_values.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "inputs/float_encode.h"
#include "inputs/nibbles.h"

namespace vernier {
namespace {

constexpr size_t kEvery = 16;

constexpr ExtremeSetRow kSets[] = {
    {ExtremeSet::kDenormals, "denormals", "every element is denormal"},
    {ExtremeSet::kZeros, "zeros", "+0 and -0 in turn"},
    {ExtremeSet::kLarge, "large", "every element is from half of the largest value up"},
    {ExtremeSet::kNan, "nan", "every 16th element is NaN"},
    {ExtremeSet::kInf, "inf", "every 16th element is infinite"},
    {ExtremeSet::kLimits, "limits", "integers: the smallest and the largest value in turn", true},
};

// The value of element `index`; nullopt: the element stays.
std::optional<double> ValueAt(ExtremeSet set, DType dtype, size_t index, double draw) {
  const double sign = index % 2 == 0 ? 1.0 : -1.0;
  switch (set) {
    case ExtremeSet::kDenormals:
      // Not too near to either end, so that the rounding to narrow types stays among denormals.
      return sign * SmallestNormal(dtype) * (0.25 + 0.5 * draw);
    case ExtremeSet::kZeros:
      return sign * 0.0;
    case ExtremeSet::kLarge:
      return sign * LargestFinite(dtype) * (0.5 + 0.5 * draw);
    case ExtremeSet::kNan:
      if (index % kEvery != 0) return std::nullopt;
      return std::numeric_limits<double>::quiet_NaN();
    case ExtremeSet::kInf:
      if (index % kEvery != 0) return std::nullopt;
      return (index / kEvery % 2 == 0 ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
    case ExtremeSet::kLimits:
    case ExtremeSet::kLimitsFromLargest:
      break;
  }
  return std::nullopt;
}

template <typename T, typename Encode>
void Overwrite(std::span<T> elements, DType dtype, ExtremeSet set, NumpyRandom& random,
               const Encode& encode) {
  std::vector<double> draws(elements.size());
  random.FillDoubles(draws);
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::optional<double> value = ValueAt(set, dtype, i, draws[i]);
    if (value) elements[i] = static_cast<T>(encode(*value));
  }
}

bool IsWholeInteger(DType dtype) { return IsIntegral(dtype) && BitsOf(dtype) >= 8; }

// Two's complement, little endian: of 0x80 and 0xff behind zeros, or of 0x7f behind 0xff.
void PutLimit(std::span<std::byte> element, bool is_signed, bool largest) {
  for (std::byte& byte : element) byte = largest ? std::byte{0xff} : std::byte{0};
  if (is_signed) element.back() = largest ? std::byte{0x7f} : std::byte{0x80};
}

bool IsOfLimits(ExtremeSet set) {
  return set == ExtremeSet::kLimits || set == ExtremeSet::kLimitsFromLargest;
}

void PutLimits(DType dtype, bool largest_first, std::span<std::byte> bytes) {
  const auto size = static_cast<size_t>(BitsOf(dtype)) / 8;
  const bool is_signed = Kind(dtype) == DTypeKind::kSignedInt;
  for (size_t at = 0; at < bytes.size(); at += size) {
    PutLimit(bytes.subspan(at, size), is_signed, (at / size % 2 == 1) != largest_first);
  }
}

}  // namespace

std::span<const ExtremeSetRow> ExtremeSets() { return kSets; }

double SmallestNormal(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return std::numeric_limits<double>::min();
    case DType::kFloat32:
    case DType::kBFloat16:
      return std::numeric_limits<float>::min();
    case DType::kFloat16:
    case DType::kFloat8E5M2:
      return 0x1p-14;
    case DType::kFloat8E5M2FNUZ:
      return 0x1p-15;
    case DType::kFloat8E4M3FN:
      return 0x1p-6;
    case DType::kFloat8E4M3FNUZ:
      return 0x1p-7;
    case DType::kFloat4E2M1:
      return 1;
    default:
      return 0;
  }
}

bool TakesExtremes(DType dtype, ExtremeSet set) {
  if (IsOfLimits(set)) return IsWholeInteger(dtype);
  if (Kind(dtype) != DTypeKind::kFloat) return false;
  const bool infinite = dtype == DType::kFloat64 || dtype == DType::kFloat32 ||
                        dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
                        dtype == DType::kFloat8E5M2;
  if (set == ExtremeSet::kInf) return infinite;
  return set != ExtremeSet::kNan || dtype != DType::kFloat4E2M1;
}

Result<Tensor> MakeExtreme(const Tensor& tensor, ExtremeSet set, NumpyRandom& random) {
  const DType dtype = tensor.dtype();
  if (!TakesExtremes(dtype, set)) return Internal("a type without such values");
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, tensor.dims()));
  if (!tensor.bytes().empty()) {
    std::memcpy(buffer.bytes().data(), tensor.bytes().data(), tensor.bytes().size());
  }
  if (IsOfLimits(set)) {
    PutLimits(dtype, set == ExtremeSet::kLimitsFromLargest, buffer.bytes());
  } else if (dtype == DType::kFloat32) {
    Overwrite(buffer.As<float>(), dtype, set, random, [](double value) { return value; });
  } else if (dtype == DType::kFloat64) {
    Overwrite(buffer.As<double>(), dtype, set, random, [](double value) { return value; });
  } else {
    const NarrowFloat narrow = *NarrowFloat::Of(dtype);
    const auto encode = [&](double value) { return narrow.Encode(value); };
    if (BitsOf(dtype) == 16) Overwrite(buffer.As<uint16_t>(), dtype, set, random, encode);
    if (BitsOf(dtype) == 8) Overwrite(buffer.As<uint8_t>(), dtype, set, random, encode);
    if (BitsOf(dtype) == 4) {
      std::vector<uint8_t> codes(static_cast<size_t>(tensor.element_count()));
      Overwrite(std::span(codes), dtype, set, random, encode);
      PackNibbles(codes, buffer.bytes());
    }
  }
  return std::move(buffer).Freeze();
}

}  // namespace vernier
