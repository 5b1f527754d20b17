// Inputs at the edges of what their types can hold.
#pragma once

#include <span>
#include <string_view>

#include "inputs/numpy_random.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

enum class ExtremeSet : uint8_t {
  kDenormals,          ///< every element is a denormal of either sign
  kZeros,              ///< +0 and -0 in turn
  kLarge,              ///< between half of the largest value and itself, of either sign
  kNan,                ///< every 16th element is NaN
  kInf,                ///< every 16th element is infinite, of either sign
  kLimits,             ///< of integers: the smallest and the largest value in turn
  kLimitsFromLargest,  ///< the same, the largest first: no row of ExtremeSets
};

struct ExtremeSetRow {
  ExtremeSet set;
  std::string_view name;     ///< "denormals"
  std::string_view meaning;  ///< "every element is ..."
  bool asked_only = false;   ///< not tried unless requested: many models rightly refuse it
};

/// In the order in which they are tried.
std::span<const ExtremeSetRow> ExtremeSets();

/// Whether tensors of the type change at all: float types, without float4 where it has no such
/// value; with either set of limits integers of one byte or more instead.
bool TakesExtremes(DType dtype, ExtremeSet set);

/// The tensor with such values in place of its own. kInternal for a type that does not take them.
Result<Tensor> MakeExtreme(const Tensor& tensor, ExtremeSet set, NumpyRandom& random);

/// The smallest normal number of a float type; 0 for any other.
double SmallestNormal(DType dtype);

}  // namespace vernier
