// The names of the constants of a graph.
#pragma once

#include <string_view>
#include <unordered_set>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// The names of the graph's initializers, sparse ones included; views into the model.
inline std::unordered_set<std::string_view> InitializerNames(const OnnxGraph& graph) {
  std::unordered_set<std::string_view> names(graph.sparse_initializers.begin(),
                                             graph.sparse_initializers.end());
  for (const OnnxTensor& tensor : graph.initializers) names.insert(tensor.name);
  return names;
}

}  // namespace vernier
