// A NaN on both sides is no difference, whatever its bits.
#pragma once

#include <optional>

#include "vernier/tensor.h"

namespace vernier {

struct TensorPair {
  Tensor a, b;
};

/// The tensors with zeros in the places where both have a NaN, of their own types. Absent where
/// there is no such place, where the two are no floats of a byte or more with one shape, and where
/// memory runs out; nothing is copied before the first such place was found.
std::optional<TensorPair> WithoutSharedNans(const Tensor& a, const Tensor& b);

/// Whether all elements are the same, NaN as NaN and infinities as themselves.
bool HaveSameValues(const Tensor& a, const Tensor& b);

}  // namespace vernier
