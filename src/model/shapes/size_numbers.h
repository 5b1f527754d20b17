// Small tensors of integers that are made of sizes, as the target of a Reshape often is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

/// The values of a node's first output, in row-major order, where it is made of known sizes and of
/// integers that `shapes` knows: by Shape, Size, Cast, Gather, Slice, Concat, (Un)Squeeze and
/// arithmetic. nullopt where one of them is not known, and for longer tensors than shapes are.
std::optional<std::vector<int64_t>> NumbersOfSizes(const OnnxModel& model, const OnnxGraph& graph,
                                                   const OnnxNode& node,
                                                   const ShapeTracker& shapes);

}  // namespace vernier
