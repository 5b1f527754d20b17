#include "compare/functions/vacuous.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compare/functions/comparison.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

constexpr std::string_view kNoElements = "no elements";
constexpr std::string_view kAbsent = "absent on both sides";
constexpr std::string_view kAllZero = "all elements are zero";
constexpr std::string_view kAllSame = "all elements are the same";
constexpr std::string_view kSameInEach = "all elements of each iteration are the same";
constexpr std::string_view kFlat = "all logits of each position are the same";

bool StringsConstant(const Tensor& tensor) {
  for (int64_t i = 1; i < tensor.element_count(); ++i) {
    if (tensor.StringAt(i) != tensor.StringAt(0)) return false;
  }
  return true;
}

// Two elements to a byte; an odd count leaves the last half byte unused.
bool NibblesConstant(const Tensor& tensor) {
  const std::span<const std::byte> bytes = tensor.bytes();
  const auto low = std::to_integer<unsigned>(bytes[0]) & 0xfu;
  const std::byte both{static_cast<unsigned char>(low | low << 4)};
  const auto whole = static_cast<size_t>(tensor.element_count() / 2);
  const bool pairs = std::all_of(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(whole),
                                 [&](std::byte byte) { return byte == both; });
  if (!pairs || tensor.element_count() % 2 == 0) return pairs;
  return (std::to_integer<unsigned>(bytes[whole]) & 0xfu) == low;
}

// Are all elements zero, of either sign? Types of 8 bits and less have zero as zero bits alone: a
// sign alone is NaN in some of them.
template <typename Bits>
bool ZeroBesideSigns(const Tensor& tensor, Bits sign) {
  const std::span<const std::byte> bytes = tensor.bytes();
  for (size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof(bits));
    if ((bits & ~sign) != 0) return false;
  }
  return true;
}

bool IsZeroOfEitherSign(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return ZeroBesideSigns(tensor, uint16_t{0x8000});
    case DType::kFloat32:
    case DType::kComplex64:
      return ZeroBesideSigns(tensor, uint32_t{1} << 31);
    case DType::kFloat64:
    case DType::kComplex128:
      return ZeroBesideSigns(tensor, uint64_t{1} << 63);
    default:
      return false;
  }
}

// Are all elements the same bits, or all zero?
bool IsConstant(const Tensor& tensor) {
  if (tensor.element_count() < 2) return false;
  if (IsZeroOfEitherSign(tensor)) return true;
  if (tensor.dtype() == DType::kString) return StringsConstant(tensor);
  const int bits = BitsOf(tensor.dtype());
  if (bits == 4) return NibblesConstant(tensor);
  if (bits < 8) return false;
  // The bytes against themselves, one element later.
  const auto bytes = tensor.bytes();
  const auto size = static_cast<size_t>(bits / 8);
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

bool IsZero(const Tensor& constant) {
  if (constant.dtype() == DType::kString) return false;
  const auto bytes = constant.bytes();
  const size_t size = std::max<size_t>(1, static_cast<size_t>(BitsOf(constant.dtype()) / 8));
  return std::all_of(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

bool IsOfConstants(std::string_view why) {
  return why == kAllZero || why == kAllSame || why == kSameInEach || why == kFlat;
}

}  // namespace

std::string VacuousBecause(const Tensor& a, const Tensor& b) {
  if (a.element_count() == 0) return std::string(kNoElements);
  if (a.bytes().data() == b.bytes().data()) return "both sides are the same memory";
  if (a.element_count() > 1 && IsZeroOfEitherSign(a) && IsZeroOfEitherSign(b)) {
    return std::string(kAllZero);
  }
  if (!IsConstant(a) || !IsConstant(b)) return "";
  return std::string(IsZero(a) && IsZero(b) ? kAllZero : kAllSame);
}

std::string VacuousBecauseNothing(const NamedTensor& a, const NamedTensor& b) {
  const char kind = CountedBy(a.name);
  if (kind == '\0' || CountedBy(b.name) != kind) return "";
  const DType counts = kind == '?' ? DType::kBool : DType::kInt64;
  for (const Tensor* side : {&a.tensor, &b.tensor}) {
    const bool counted = side->dtype() == counts && side->dims().empty() && !side->bytes().empty();
    if (!counted || !IsZero(*side)) return "";
  }
  return std::string(kind == '?' ? kAbsent : kNoElements);
}

std::string VacuousBecause(const FunctionResult& result) {
  if (const auto* simple = std::get_if<SimpleResult>(&result.data)) {
    if (!simple->bound) {
      return std::isinf(simple->atol) || std::isinf(simple->rtol) ? "the tolerance is infinite"
                                                                  : "";
    }
    return simple->bound->shows_nothing() ? "the error bound is wider than the output" : "";
  }
  if (const auto* metric = std::get_if<MetricResult>(&result.data)) {
    // Only equal sides reach an infinite one, as of a decibel.
    const bool any = std::isinf(metric->threshold) && metric->value != metric->threshold;
    return any ? "the threshold is infinite" : "";
  }
  const auto* logits = std::get_if<LogitsResult>(&result.data);
  if (logits == nullptr) return "";
  const bool any = std::isinf(logits->kl_threshold) && logits->top1_threshold <= 0;
  if (any) return "the thresholds let everything pass";
  const LogitMeasures& measures = logits->measures;
  return std::string(measures.compared > 0 && measures.flat == measures.compared ? kFlat : "");
}

bool IsOfValues(std::string_view why) {
  return why == kNoElements || why == kAbsent || IsOfConstants(why);
}

std::string VacuousInBoth(std::string_view before, std::string_view next) {
  if (IsOfValues(before) && !IsOfValues(next)) return std::string(next);
  const bool constant = IsOfConstants(before) && IsOfConstants(next);
  if (constant && (before == kFlat || next == kFlat)) return std::string(kFlat);
  const bool zero = before == kAllZero && next == kAllZero;
  return std::string(constant && !zero ? kSameInEach : before);
}

std::string VacuousBecauseConstant(const PairMeasures& measures) {
  if (measures.a.count == 0) return std::string(kNoElements);
  for (const ValueStatistics* side : {&measures.a, &measures.b}) {
    if (side->count < 2 || side->min != side->max) return "";
  }
  const bool zero = measures.a.min == 0 && measures.b.min == 0;
  return std::string(zero ? kAllZero : kAllSame);
}

std::string VacuousBecause(const PairMeasures& measures) {
  const auto all_nan = [](const ValueStatistics& side) {
    return side.count > 0 && side.nan_count == side.count;
  };
  return all_nan(measures.a) && all_nan(measures.b) ? "all elements are NaN" : "";
}

}  // namespace vernier
