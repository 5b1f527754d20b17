#include "debug/layer_fusion.h"

#include <algorithm>
#include <string_view>

namespace vernier {
namespace {

constexpr std::string_view kSums[] = {"Conv", "ConvTranspose", "Gemm"};
constexpr std::string_view kActivations[] = {"Relu", "Clip"};

template <size_t N>
bool IsOneOf(const std::string_view (&operators)[N], const OnnxNode& node) {
  return std::find(std::begin(operators), std::end(operators), node.op_type) != std::end(operators);
}

bool IsReadOnce(const OnnxGraph& graph, std::string_view tensor) {
  size_t readers = 0;
  for (const OnnxValue& output : graph.outputs) readers += output.name == tensor ? 1 : 0;
  for (const OnnxNode& node : graph.nodes) {
    const auto inputs = graph.Inputs(node);
    readers += static_cast<size_t>(std::count(inputs.begin(), inputs.end(), tensor));
  }
  return readers == 1;
}

// Does this node make the first input of the activation, and nobody else's?
bool Feeds(const LowerableNode& maker, const LowerableNode& activation) {
  if (maker.graph != activation.graph || !IsOneOf(kSums, *maker.node)) return false;
  const auto made = maker.graph->Outputs(*maker.node);
  const auto read = activation.graph->Inputs(*activation.node);
  return !made.empty() && !read.empty() && made[0] == read[0] && IsReadOnce(*maker.graph, made[0]);
}

}  // namespace

NodeSet WithoutFused(const NodeSet& kept, std::span<const LowerableNode> nodes) {
  NodeSet left;
  for (const uint32_t node : kept) {
    const bool fused = IsOneOf(kActivations, *nodes[node].node) &&
                       std::any_of(kept.begin(), kept.end(), [&](uint32_t other) {
                         return Feeds(nodes[other], nodes[node]);
                       });
    if (!fused) left.push_back(node);
  }
  return left.size() < kept.size() ? left : NodeSet();
}

}  // namespace vernier
