// 2:4 sparsity: of every four neighbours along an axis at least two are zero.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct PrunableWeight {
  const OnnxTensor* tensor;  ///< an initializer of the model's main graph
  size_t axis;               ///< along which sums run
};

/// The weights of Conv, Gemm and MatMul that could be sparse, also behind quantisation, casts and
/// transpositions: float32, float16 or bfloat16, with a multiple of four values along the axis.
/// What is left out and why is logged in Polygraphy's words. Names in `skip` are left out.
std::vector<PrunableWeight> FindPrunableWeights(const OnnxModel& model,
                                                const std::unordered_set<std::string_view>& skip,
                                                Logger& logger);

/// Whether the values are 2:4 sparse along the axis. For the types of FindPrunableWeights.
bool IsSparse(const Tensor& values, size_t axis);

/// The values with the two of smallest magnitude of every four set to zero; of equal ones the
/// first. A NaN counts as largest. kInternal when there is no memory.
Result<Tensor> Pruned(const Tensor& values, size_t axis);

}  // namespace vernier
