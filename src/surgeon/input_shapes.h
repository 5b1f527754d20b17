// Other shapes for a model's inputs, and what follows from them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The model whose inputs have these shapes; an undefined dtype stays as it is. What is declared of
/// tensors within goes, and outputs keep their ranks alone: all that followed from the old shapes.
/// kNotFound for a name that is no input of the model; errors of RewriteGraphs.
Result<OnnxModel> WithInputShapes(const OnnxModel& model, std::span<const TensorInfo> inputs);

/// The model with the shapes and types of its tensors that follow, operator by operator, from those
/// of its inputs. Sizes that are not fixed count as `open`; with `open` < 0 shapes follow from
/// fixed ones alone. What no rule covers stays as it is.
Result<OnnxModel> WithShapesThatFollow(const OnnxModel& model, int64_t open);

/// What the nodes of the main graph make, in their order; constants left out. `sized` says whether
/// tensors come along whose type and sizes are all declared.
std::vector<std::string> TensorsOfNodes(const OnnxModel& model, bool sized);

/// The model that declares these inputs, outputs and tensors within to be as they are found.
Result<OnnxModel> WithTensors(const OnnxModel& model, std::span<const TensorInfo> found);

}  // namespace vernier
