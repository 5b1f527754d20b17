// The part of a model between tensors, as a model of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Where to cut. An undefined dtype and a missing shape are filled in from what the model declares,
/// else from what InferTypes finds; what remains unknown is declared without.
struct ExtractPlan {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
};

/// The declarations of main-graph tensors, completed as ExtractPlan says. One entry for each name.
std::vector<TensorInfo> DescribeTensors(const OnnxModel& model, std::span<const std::string> names);

/// The nodes of the main graph that the outputs need when the inputs are given, in topological
/// order. kNotFound for a tensor that the main graph does not have; kInvalidArgument when an output
/// needs an input of the model that is not among the given ones; kMalformed for a cycle.
Result<std::vector<uint32_t>> NodesBetween(const OnnxModel& model,
                                           std::span<const std::string> inputs,
                                           std::span<const std::string> outputs);

/// These nodes with their initializers (external ones by reference), bodies, functions and opset
/// imports, as a model. The errors of NodesBetween, and kUnimplemented for an initializer that the
/// file splits. `model` must outlive the result.
Result<BytePieces> ExtractModel(const OnnxModel& model, const ExtractPlan& plan);

}  // namespace vernier
