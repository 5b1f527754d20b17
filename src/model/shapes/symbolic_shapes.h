// Shapes of intermediate values with the names that the model's inputs give to their dimensions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The shapes of tensors of the main graph, where rules say how they follow from the inputs: a
/// dimension has its size, or the name of the input's dimension that it always equals, or neither.
/// `inputs` win over what the model declares. One entry for each name, without a shape where no
/// rule covers it. kMalformed for a cycle.
Result<std::vector<TensorInfo>> FollowNamedSizes(const OnnxModel& model,
                                                 std::span<const InputDims> inputs,
                                                 std::span<const std::string> names);

}  // namespace vernier
