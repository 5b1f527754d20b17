// Sizes of parts of values, and of values with something around them. Internal to model.
#pragma once

#include <optional>

#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

/// The sizes that Slice, Pad and Shape give their output where constants say how. They hold for the
/// sizes that `shapes` knows, and say nothing of how they would follow from others, for which
/// reason ShapeTracker has no such rules.
std::optional<Dims> DimsOfPart(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                               const ShapeTracker& shapes);

}  // namespace vernier
