#include "gpu/pair_variants.h"

#include <algorithm>
#include <iterator>

namespace vernier::gpu {
namespace {

constexpr PairVariant SmallVariant(std::string_view name) {
  return {name,
          name,
          StreamType::kFloating,
          KeyType::kMagnitude32,
          KeyType::kMagnitude32,
          31,
          DType::kFloat32,
          DType::kFloat32};
}
constexpr PairVariant WideVariant(std::string_view name, std::string_view products) {
  return {
      name, products,        StreamType::kFloating, KeyType::kMagnitude64, KeyType::kMagnitude64,
      63,   DType::kFloat64, DType::kFloat64};
}
constexpr PairVariant IntegerVariant(std::string_view name, std::string_view products,
                                     DType dtype) {
  return {name, products, StreamType::kUnsigned, KeyType::kUint64, KeyType::kMagnitude64,
          64,   dtype,    DType::kFloat64};
}

bool IsSmallFloat(DType dtype) { return NaturalArithmetic(dtype) == Arithmetic::kFloat32; }
bool IsInteger(DType dtype) {
  return NaturalArithmetic(dtype) == Arithmetic::kInt64 ||
         NaturalArithmetic(dtype) == Arithmetic::kUint64;
}

// The loaders of several elements at once need whole words.
bool IsAligned(cuda::DevicePointer pointer) { return pointer % 16 == 0; }

// Variants that read one type many elements at a time, by the variants for any type.
struct FastVariant {
  DType dtype;
  std::string_view pair;
  std::string_view values;
};
constexpr FastVariant kFastVariants[] = {
    {DType::kFloat32, "Float32Pair", "Float32Values"},
    {DType::kFloat16, "Float16Pair", "Float16Values"},
    {DType::kBFloat16, "BFloat16Pair", "BFloat16Values"},
    {DType::kFloat64, "Float64Pair", "Float64Values"},
    {DType::kInt16, "Int16Pair", "Int16Values"},
    {DType::kUint16, "Uint16Pair", "Uint16Values"},
    {DType::kInt32, "Int32Pair", "Int32Values"},
    {DType::kUint32, "Uint32Pair", "Uint32Values"},
    {DType::kInt64, "LongPair", "Int64Values"},
    {DType::kUint64, "LongPair", "Uint64Values"},
};

const FastVariant* FindFast(DType dtype) {
  const auto* found = std::find_if(std::begin(kFastVariants), std::end(kFastVariants),
                                   [&](const FastVariant& v) { return v.dtype == dtype; });
  return found == std::end(kFastVariants) ? nullptr : found;
}

}  // namespace

PairVariant VariantOf(const DeviceElements& a, const DeviceElements& b, bool infinities_equal) {
  const bool plain = a.dtype == b.dtype && IsAligned(a.data) && IsAligned(b.data);
  const FastVariant* fast = plain ? FindFast(a.dtype) : nullptr;
  if (a.dtype == DType::kBool && b.dtype == DType::kBool) {
    return IntegerVariant("IntegerPair", "SmallPair", DType::kBool);
  }
  if (IsInteger(a.dtype) && IsInteger(b.dtype)) {
    return IntegerVariant(fast != nullptr ? fast->pair : "IntegerPair", "RealPair", DType::kUint64);
  }
  if (infinities_equal) fast = nullptr;
  const auto small = [](DType t) { return t == DType::kBool || IsSmallFloat(t); };
  if (!small(a.dtype) || !small(b.dtype)) {
    return fast != nullptr ? WideVariant(fast->pair, fast->pair)
                           : WideVariant("RealPair", "RealPair");
  }
  if (infinities_equal) return WideVariant("WidenedPair", "SmallPair");
  return SmallVariant(fast != nullptr ? fast->pair : "SmallPair");
}

ValueVariant ValueVariantOf(const DeviceElements& elements) {
  using Sign = StreamTotals::Sign;
  const FastVariant* fast = IsAligned(elements.data) ? FindFast(elements.dtype) : nullptr;
  const auto name = [&](std::string_view any) { return fast != nullptr ? fast->values : any; };
  switch (NaturalArithmetic(elements.dtype)) {
    case Arithmetic::kFloat32:
      return {name("SmallValues"), StreamType::kFloating, Sign::kAny, KeyType::kFloat32, 32};
    case Arithmetic::kFloat64:
      return {name("RealValues"), StreamType::kFloating, Sign::kAny, KeyType::kFloat64, 64};
    case Arithmetic::kUint64:
      return {name("UnsignedValues"), StreamType::kUnsigned, Sign::kNeverNegative, KeyType::kUint64,
              64};
    default:
      return {name("SignedValues"), StreamType::kSigned, Sign::kAny, KeyType::kInt64, 64};
  }
}

}  // namespace vernier::gpu
