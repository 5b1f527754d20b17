#include "model/float16/float16_transposes.h"

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

constexpr size_t kFewestAxes = 3;

bool MovesFirstAxisBack(const OnnxModel& model, const OnnxNode& node) {
  const std::vector<int64_t> order = NodeAttributes(model, node).Ints("perm");
  const size_t axes = order.size();
  if (axes < kFewestAxes) return false;
  for (size_t i = 0; i + 2 < axes; ++i) {
    if (order[i] != static_cast<int64_t>(i) + 1) return false;
  }
  return true;  // the first axis is one of the two that are left
}

void Visit(const OnnxModel& model, const OnnxGraph& graph, Float16Kept& kept) {
  std::unordered_set<std::string_view> factors;
  for (const OnnxNode& node : graph.nodes) {
    if (node.op_type == "MatMul" && node.input_count > 0) factors.insert(graph.Inputs(node)[0]);
  }
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) Visit(model, model.Subgraph(link), kept);
    if (node.op_type != "Transpose" || graph.Outputs(node).empty()) continue;
    const bool fused = factors.contains(graph.Outputs(node)[0]);
    if (fused && MovesFirstAxisBack(model, node)) kept.insert(&node);
  }
}

}  // namespace

void KeepFusedTransposes(const OnnxModel& model, Float16Kept& kept) {
  Visit(model, model.graph(), kept);
  for (const OnnxFunction& function : model.contents().functions) {
    Visit(model, function.body, kept);
  }
}

}  // namespace vernier
