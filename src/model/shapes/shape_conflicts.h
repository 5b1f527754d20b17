// Sizes of inputs that a model cannot take, whoever runs it.
#pragma once

#include <span>
#include <string>

#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_shapes.h"

namespace vernier {

/// The first node of the main graph whose inputs do not fit each other where these are fed: shapes
/// that do not broadcast, or that Concat cannot join. "node 'a' (Add) is given (1, 2) and (1, 3)";
/// empty where there is none, as far as rules of shapes show.
std::string FindShapeConflict(const OnnxModel& model, std::span<const InputDims> inputs);

}  // namespace vernier
