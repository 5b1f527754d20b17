// Shapes and types in the spelling of Polygraphy's log lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vernier/dtype.h"
#include "vernier/tensor.h"

namespace vernier {

/// Who wrote a shape: a model's dynamic dimension without a name is `None`, a user's is its number.
enum class ShapeOrigin { kModel, kUser };

/// "BoundedShape(['batch', None, 3], min=None, max=None)".
std::string FormatBoundedShape(std::span<const Dim> shape, ShapeOrigin origin);

/// A user's shape as a tuple: "(1, 'batch', -1)".
std::string FormatUserShape(std::span<const Dim> shape);

/// "[1, 3]".
std::string FormatPythonInts(std::span<const int64_t> values);

/// NumPy's str of a list of integers: right-aligned, without commas, broken at 75 columns; more
/// than 1000 are abridged to three at each end. "[  1  20 300]".
std::string FormatNumpyInts(std::span<const int64_t> values);

/// "float32", but "float8e4m3fn" and "float4" where Polygraphy's names differ from NumPy's.
std::string PolygraphyDTypeName(DType dtype);

}  // namespace vernier
