// The attributes of one node, looked up by name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// Parses the attributes when the first one is requested. The model must outlive it.
class NodeAttributes {
 public:
  NodeAttributes(const OnnxModel& model, const OnnxNode& node) : model_(model), node_(node) {}

  /// nullptr if the node does not have it.
  const OnnxAttribute* Find(std::string_view name) {
    if (!list_) list_ = model_.Attributes(node_);
    for (const OnnxAttribute& attribute : *list_) {
      if (attribute.name == name) return &attribute;
    }
    return nullptr;
  }

  int64_t Int(std::string_view name, int64_t fallback) {
    const OnnxAttribute* attribute = Find(name);
    return attribute != nullptr ? attribute->i : fallback;
  }

  std::string_view Text(std::string_view name) {
    const OnnxAttribute* attribute = Find(name);
    return attribute != nullptr ? attribute->s : std::string_view();
  }

  /// Empty if the node does not have it.
  std::vector<int64_t> Ints(std::string_view name) {
    const OnnxAttribute* attribute = Find(name);
    return attribute != nullptr ? attribute->ints : std::vector<int64_t>();
  }

 private:
  const OnnxModel& model_;
  const OnnxNode& node_;
  std::optional<std::vector<OnnxAttribute>> list_;
};

}  // namespace vernier
