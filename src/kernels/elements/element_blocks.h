// Elements of any dtype, read block by block as one of a few arithmetic types.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vernier/dtype.h"

namespace vernier {

/// Elements of one tensor. 4-bit types are packed two to a byte, first element in the low nibble;
/// strings are Arrow's offsets and bytes (see vernier/tensor.h).
struct ElementSpan {
  DType dtype = DType::kUndefined;
  std::span<const std::byte> bytes;
  int64_t count = 0;
};

/// Elements per block: two blocks of doubles and their differences fit the first-level cache.
inline constexpr size_t kBlockSize = 1024;

/// The type in which elements of a dtype are computed with.
enum class Arithmetic : uint8_t { kFloat32, kFloat64, kInt64, kUint64, kComplex, kString, kNone };

/// Every value of the dtype is exact in the arithmetic type. bool counts as kInt64.
Arithmetic NaturalArithmetic(DType dtype);

/// Elements [start, start + n) as T: a pointer into `elements` where the type and alignment allow,
/// else `scratch`, which must hold n. T is float, double, int64_t, uint64_t or
/// std::complex<double>; to an integer type only integers and bool may be read, to a real type no
/// complex. Anything else reads as zero.
template <typename T>
const T* LoadBlock(const ElementSpan& elements, int64_t start, size_t n, T* scratch);

/// The text of one element of a string tensor.
std::string_view StringElement(const ElementSpan& elements, int64_t index);

}  // namespace vernier
