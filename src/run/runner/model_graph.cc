#include "run/runner/model_graph.h"

#include <numeric>
#include <set>

#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

// Where nodes wait for each other the file's order is as good as any.
std::vector<uint32_t> OrderOf(const OnnxModel& model) {
  Result<std::vector<uint32_t>> order = TopologicalOrder(model);
  if (order.ok()) return *std::move(order);
  std::vector<uint32_t> as_written(model.graph().nodes.size());
  std::iota(as_written.begin(), as_written.end(), 0U);
  return as_written;
}

Result<GraphRecord> ReadModelGraph(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(path));
  const OnnxGraph& graph = model.graph();
  std::set<std::string_view> weights(graph.sparse_initializers.begin(),
                                     graph.sparse_initializers.end());
  for (const OnnxTensor& weight : graph.initializers) weights.insert(weight.name);
  GraphRecord record;
  record.model = path;
  for (const OnnxValue& input : graph.inputs) {
    if (!weights.contains(input.name)) record.inputs.emplace_back(input.name);
  }
  for (const OnnxValue& output : graph.outputs) record.outputs.emplace_back(output.name);
  for (const uint32_t index : OrderOf(model)) {
    const OnnxNode& node = graph.nodes[index];
    NodeRecord& made = record.nodes.emplace_back();
    made.name = node.name;
    made.op_type = node.op_type;
    for (const std::string_view input : ValuesReadBy(model, graph, node)) {
      if (!weights.contains(input)) made.inputs.emplace_back(input);
    }
    for (const std::string_view output : graph.Outputs(node)) {
      if (!output.empty()) made.outputs.emplace_back(output);
    }
  }
  VERNIER_TRY(model.CheckIntact());
  return record;
}

}  // namespace

std::optional<GraphRecord> FindModelGraph(const RunPlan& plan) {
  for (const RunnerPlan& runner : plan.runners) {
    if (runner.model.type != ModelTypeName(ModelType::kOnnx)) continue;
    Result<GraphRecord> graph = ReadModelGraph(runner.model.path);
    // A model that cannot be read has been reported by its runner.
    if (graph.ok()) return *std::move(graph);
  }
  return std::nullopt;
}

}  // namespace vernier
