// Which arithmetic two types are compared in. Internal to kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/measures/difference.h"
#include "kernels/measures/difference_readers.h"
#include "vernier/status.h"

namespace vernier {

inline bool IsSmallFloat(DType dtype) { return NaturalArithmetic(dtype) == Arithmetic::kFloat32; }
inline bool IsInteger(DType dtype) {
  const Arithmetic arithmetic = NaturalArithmetic(dtype);
  return arithmetic == Arithmetic::kInt64 || arithmetic == Arithmetic::kUint64;
}
inline bool IsBoolOrSmallFloat(DType dtype) { return dtype == DType::kBool || IsSmallFloat(dtype); }

/// kInvalidArgument for types or counts that cannot be compared.
inline Status CheckTypes(const ElementSpan& a, const ElementSpan& b) {
  const DTypeKind kind_a = Kind(a.dtype);
  const DTypeKind kind_b = Kind(b.dtype);
  const bool undefined = kind_a == DTypeKind::kNone || kind_b == DTypeKind::kNone;
  const bool one_string = (kind_a == DTypeKind::kString) != (kind_b == DTypeKind::kString);
  if (!undefined && !one_string && a.count == b.count) return {};
  return InvalidArgument("cannot compare " + std::to_string(a.count) + " elements of type " +
                         std::string(DTypeName(a.dtype)) + " with " + std::to_string(b.count) +
                         " of type " + std::string(DTypeName(b.dtype)));
}

// Calls `function` with the reader for the two types. The types must have passed CheckTypes.
template <typename Function>
auto WithReader(const ElementSpan& a, const ElementSpan& b, const DifferenceRule& rule,
                Function function) {
  if (Kind(a.dtype) == DTypeKind::kString) {
    StringDifferences reader(a, b);
    return function(reader);
  }
  if (Kind(a.dtype) == DTypeKind::kComplex || Kind(b.dtype) == DTypeKind::kComplex) {
    ComplexDifferences reader(a, b, rule.infinities_equal);
    return function(reader);
  }
  if (a.dtype == DType::kBool && b.dtype == DType::kBool) {
    BoolDifferences reader(a, b);
    return function(reader);
  }
  if (IsInteger(a.dtype) && IsInteger(b.dtype)) {
    IntegerDifferences reader(a, b);
    return function(reader);
  }
  if (!IsBoolOrSmallFloat(a.dtype) || !IsBoolOrSmallFloat(b.dtype)) {
    RealDifferences<double> reader(a, b, rule);
    return function(reader);
  }
  if (rule.infinities_equal) {
    WidenedDifferences reader(a, b, rule);
    return function(reader);
  }
  RealDifferences<float> reader(a, b, rule);
  return function(reader);
}

// Calls `function(start, n, absolute, relative, zeros)` for each block.
template <typename Reader, typename Function>
void ForEachBlock(Reader& reader, int64_t count, Function function) {
  typename Reader::Absolute absolute[kBlockSize];
  typename Reader::Relative relative[kBlockSize];
  for (int64_t start = 0; start < count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, count - start));
    const int64_t zeros = reader.Read(start, n, absolute, relative);
    function(start, n, absolute, relative, zeros);
  }
}

}  // namespace vernier
