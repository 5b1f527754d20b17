// The order of an ONNX model's nodes. ONNX asks for one in which nodes follow what they read; a
// quantiser may break it where branches read outer tensors. OpenVINO sorts the nodes of a model
// that it reads from a file, and refuses the same bytes in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vernier::ov {

/// The model with the nodes of its graphs, branches and bodies included, in such an order, each as
/// early as it was where that is possible. nullopt: they are in order, or have none, or the bytes
/// are no ONNX model.
std::optional<std::string> WithNodesInOrder(std::string_view model);

}  // namespace vernier::ov
