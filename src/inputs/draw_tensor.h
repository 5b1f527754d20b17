// One random input.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "inputs/numpy_random.h"
#include "inputs/value_ranges.h"
#include "util/files/shared_memory.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Where a tensor's bytes are to lie for other processes too: reserved, and as many as it has.
struct TensorPlace {
  std::shared_ptr<SharedMemory> memory;
  std::span<std::byte> bytes;
};

/// Draws a tensor as Polygraphy's NumPy loader does:
/// - float16, float32, float64: random_sample() * (high - low) + low in double, rounded once to the
///   type. An infinite low bound gives the scale low and the shift 0, an infinite high bound the
///   scale high.
/// - Integers: bounds cut off toward zero, uniform with both ends included. bool: the bounds'
///   truth values.
/// And for the types that it refuses:
/// - bfloat16, float8, float4: as float32, then rounded to nearest even, as
///   `x.astype(float32).astype(type)` does with ml_dtypes.
/// - int4, uint4: as int8 and uint8. complex: real and imaginary parts one after the other.
/// kMalformed when integer bounds are reversed, not finite or beyond the type (as in NumPy an empty
/// tensor accepts bounds of any size), and for strings.
/// With a `place` the tensor lies there, and can be read once its memory is sealed.
Result<Tensor> DrawTensor(DType dtype, Dims dims, const ValueRange& range, NumpyRandom& random,
                          const TensorPlace* place = nullptr);

/// kMalformed where values of a float or complex type that are drawn from the range would overflow:
/// the type cannot hold an end of it, or float64 its width. Such values are infinite in Polygraphy.
Status CheckFloatRange(DType dtype, const ValueRange& range);

/// The same tensor at a place of as many bytes.
Result<Tensor> MoveTo(const TensorPlace& place, const Tensor& tensor);

/// A list of given integers. kMalformed when one does not fit the type.
Result<Tensor> IntegerTensor(DType dtype, std::span<const int64_t> values);

/// The bounds as Polygraphy prints them for this type: "[0, 1]", "[0.0, 1.0]", "[False, True]".
std::string FormatDrawnRange(DType dtype, const ValueRange& range);

}  // namespace vernier
