// The smallest model to try a runner with, and its messages shortened. Internal to check.
#pragma once

#include <string>
#include <string_view>

#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "vernier/tensor.h"

namespace vernier {

/// The smallest model of the same versions: y = Identity(x), one float32 each.
BytePieces SmallestModel(const OnnxModel& model);

/// The first line of a framework's message, without what is about its own sources.
std::string PruneMessage(std::string_view message);

}  // namespace vernier
