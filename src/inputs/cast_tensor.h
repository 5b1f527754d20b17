// Element conversions of supplied inputs.
#pragma once

#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Whether CastTensor converts between the two: numbers and bool, no strings, no complex.
bool CanCast(DType from, DType to);

/// The tensor's elements as `to`, as NumPy's astype on x86-64 gives them:
/// - float to integer cuts off toward zero. What is out of range goes through a 32-bit integer
/// (int8,
///   uint8, int16, uint16, int32) or a 64-bit one (uint32, int64, uint64), whose smallest value
///   stands for everything that does not fit it, NaN and infinities included, and is then wrapped.
///   (NumPy's vector code gives other uint32 values for part of a long array; this is its scalar
///   rule.)
/// - integers wrap; to bool, all but zero is true, NaN included.
/// - to a float type: round to nearest even, too large becomes infinite. float16 is rounded once
///   from float64; the types that NumPy lacks are rounded from float32, as ml_dtypes does.
/// kMalformed when CanCast is false; kInternal when memory runs out.
Result<Tensor> CastTensor(const Tensor& tensor, DType to);

/// Whether an element lies outside the finite range of `to`, an integer or float type. Bounds of an
/// integer type are first rounded to a float tensor's own type, as NumPy's comparison does. NaN
/// lies nowhere. False for all other types.
bool AnyOutOfRange(const Tensor& tensor, DType to);

}  // namespace vernier
