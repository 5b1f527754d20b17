// The elements of a tensor, as kernels take them.
#pragma once

#include "kernels/elements/element_blocks.h"
#include "vernier/tensor.h"

namespace vernier {

/// Valid while the tensor's bytes are.
inline ElementSpan Elements(const Tensor& tensor) {
  return {tensor.dtype(), tensor.bytes(), tensor.element_count()};
}

}  // namespace vernier
