// The inputs and outputs of an engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensorrt/engine/tensor_layout.h"
#include "tensorrt/library/trt_library.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

inline std::vector<int64_t> ShapeOf(const nvinfer1::Dims& dims) {
  return {dims.d, dims.d + std::max(dims.nbDims, 0)};
}

struct EngineTensor {
  sdk::TensorSpec spec;
  bool is_input = false;
  int32_t type = 0;                         ///< TensorRT's
  std::optional<TensorLayout> layout = {};  ///< where elements do not lie in their linear order
  bool host = false;    ///< an input read by shape inference: TensorRT wants it in host memory
  bool narrow = false;  ///< an input: int64 in the model, int32 in the engine
};

/// In the engine's order; `model` has the types of inputs as the model has them. Outputs that
/// cannot be read here are skipped, and say why; kUnimplemented for such an input.
Result<std::vector<EngineTensor>> ReadTensors(nvinfer1::ICudaEngine& engine, const vn_model& model);

}  // namespace vernier::trt
