// What TensorRT's parser complains of is a node by its number: here its name and operator are
// looked up in the model.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "vernier/backend_abi.h"

namespace vernier::trt {

struct OnnxNode {
  std::string name;  ///< often empty
  std::string op_type;
  std::string output;  ///< the first one
};

/// Node `index` of the main graph of a serialized ONNX model; nothing where there is none, or the
/// bytes are no such model.
std::optional<OnnxNode> FindNode(std::span<const std::byte> model, size_t index);

/// The same of the model that was to be opened, in memory or a file.
std::optional<OnnxNode> FindNode(const vn_model& model, size_t index);

/// "node 'name' (Operator)", by its output where it has no name.
std::string DescribeNode(const OnnxNode& node);

}  // namespace vernier::trt
