// Whether tensors are one and the same, without a tolerance.
#pragma once

#include "vernier/tensor.h"

namespace vernier {

/// The same type, shape and bytes: a NaN is the same as one of the same bits, +0 is not -0.
bool SameBits(const Tensor& a, const Tensor& b);

/// The same names and tensors in the same order.
bool SameBits(const TensorMap& a, const TensorMap& b);

}  // namespace vernier
