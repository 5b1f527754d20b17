// Loops over the elements of tensors of floats, whatever their types.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "model/rounding/error_growth.h"
#include "vernier/tensor.h"

namespace vernier {

inline bool HasValues(const Tensor* tensor) {
  return tensor != nullptr && IsFloat(tensor->dtype()) && tensor->element_count() > 0 &&
         !tensor->bytes().empty();
}

/// Calls `visit(values)` with the elements of one place in all tensors, which have the same shape.
template <size_t N, typename Visit>
void ForEachPlace(const std::array<const Tensor*, N>& tensors, Visit visit) {
  std::array<std::vector<double>, N> scratch;
  for (std::vector<double>& block : scratch) block.resize(kBlockSize);
  const int64_t count = tensors[0]->element_count();
  for (int64_t start = 0; start < count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n =
        static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kBlockSize), count - start));
    std::array<const double*, N> blocks;
    for (size_t k = 0; k < N; ++k) {
      blocks[k] = LoadBlock(Elements(*tensors[k]), start, n, scratch[k].data());
    }
    for (size_t i = 0; i < n; ++i) {
      std::array<double, N> values;
      for (size_t k = 0; k < N; ++k) values[k] = blocks[k][i];
      visit(values);
    }
  }
}

}  // namespace vernier
