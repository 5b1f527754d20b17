#include "model/onnx/random_operators.h"

#include <algorithm>
#include <iterator>

namespace vernier {
namespace {

constexpr std::string_view kRandom[] = {"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                        "RandomUniformLike", "Bernoulli",     "Multinomial"};

std::string_view FindIn(const OnnxGraph& graph) {
  const auto found = std::ranges::find_if(
      graph.nodes, [](const OnnxNode& node) { return IsRandomOperator(node.op_type); });
  return found == graph.nodes.end() ? std::string_view() : found->op_type;
}

}  // namespace

bool IsRandomOperator(std::string_view op) {
  return std::ranges::find(kRandom, op) != std::end(kRandom);
}

std::string_view FindRandomOperator(const OnnxModel& model) {
  std::string_view found = FindIn(model.graph());
  for (const OnnxGraph& graph : model.contents().subgraphs) {
    if (found.empty()) found = FindIn(graph);
  }
  for (const OnnxFunction& function : model.contents().functions) {
    if (found.empty()) found = FindIn(function.body);
  }
  return found;
}

}  // namespace vernier
