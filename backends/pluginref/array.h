// A tensor as the reference operators see it, and its elements as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vernier/dtype.h"
#include "vernier/status.h"

namespace vernier::pluginref {

using Dims = std::vector<int64_t>;
using Bytes = std::vector<std::byte>;

/// Immutable; copies share the bytes. Elements lie densely in C order, 4-bit types two to a byte,
/// strings in Arrow's layout.
struct Array {
  DType dtype = DType::kUndefined;
  Dims dims;
  std::shared_ptr<const Bytes> bytes;
};

/// "(1, 3, 4)".
std::string ShapeText(std::span<const int64_t> dims);

/// The number of elements. kMalformed for a negative size or more than memory can hold.
Result<size_t> CountOf(std::span<const int64_t> dims);

/// Elements of a part of the dimensions that CountOf has accepted.
size_t Product(std::span<const int64_t> dims);

bool IsFloat(DType dtype);

/// Elements of a float16, bfloat16, float32 or float64 array, without rounding.
std::vector<double> ReadFloats(const Array& array);

/// The inverse: each value rounded once, to the nearest and to even.
Array MakeFloats(DType dtype, Dims dims, std::span<const double> values);

/// Elements of an int32 or int64 array; nullopt for other types.
std::optional<std::vector<int64_t>> ReadIntegers(const Array& array);

/// An array of `count` elements of a plain C++ type.
template <typename T>
Array MakeArray(DType dtype, Dims dims, std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  return {dtype, std::move(dims), std::make_shared<const Bytes>(raw.begin(), raw.end())};
}

}  // namespace vernier::pluginref
