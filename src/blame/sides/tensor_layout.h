// How a tensor of one format lies in memory in another: channels last or first, with or without
// axes of length 1.
#pragma once

#include <cstddef>
#include <vector>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Makes the reference's tensor the candidate's: without its axes of length 1, with the others in
/// the order of `axes` (empty: as they are), in the shape `dims`.
struct TensorLayout {
  std::vector<size_t> axes;
  Dims dims;

  /// kMalformed for a tensor with another number of elements or of axes.
  Result<Tensor> Apply(const Tensor& tensor) const;
};

}  // namespace vernier
