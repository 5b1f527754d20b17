#include "model/onnx/onnx_order.h"

#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "model/onnx/initializer_names.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

// Collects what a sub-graph reads but does not define. A name that is defined anywhere in the
// sub-graph shadows the outer one: ONNX forbids the ambiguity.
class CaptureCollector {
 public:
  CaptureCollector(const OnnxModel& model, std::vector<std::string_view>& out)
      : model_(model), out_(out) {}

  void Read(std::string_view name) {
    if (name.empty()) return;
    for (const Names& scope : scopes_) {
      if (scope.contains(name)) return;
    }
    if (seen_.insert(name).second) out_.push_back(name);
  }

  void Node(const OnnxGraph& graph, const OnnxNode& node) {
    for (const std::string_view input : graph.Inputs(node)) Read(input);
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) Graph(model_.Subgraph(link));
  }

 private:
  void Graph(const OnnxGraph& graph) {
    Names defined = InitializerNames(graph);
    for (const OnnxValue& value : graph.inputs) defined.insert(value.name);
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string_view output : graph.Outputs(node)) defined.insert(output);
    }
    scopes_.push_back(std::move(defined));
    for (const OnnxNode& node : graph.nodes) Node(graph, node);
    for (const OnnxValue& value : graph.outputs) Read(value.name);
    scopes_.pop_back();
  }

  const OnnxModel& model_;
  std::vector<std::string_view>& out_;
  std::vector<Names> scopes_;
  Names seen_;
};

std::string DescribeNode(const OnnxGraph& graph, uint32_t index) {
  const OnnxNode& node = graph.nodes[index];
  std::string text = "node " + std::to_string(index) + " (" + std::string(node.op_type);
  if (!node.name.empty()) text += " " + QuotePython(node.name);
  return text + ")";
}

}  // namespace

std::vector<std::string_view> ValuesReadBy(const OnnxModel& model, const OnnxGraph& graph,
                                           const OnnxNode& node) {
  std::vector<std::string_view> values;
  CaptureCollector(model, values).Node(graph, node);
  return values;
}

Result<std::vector<uint32_t>> TopologicalOrder(const OnnxModel& model) {
  return TopologicalOrder(model, model.graph());
}

Result<std::vector<uint32_t>> TopologicalOrder(const OnnxModel& model, const OnnxGraph& graph) {
  const auto count = static_cast<uint32_t>(graph.nodes.size());
  std::unordered_map<std::string_view, uint32_t> producers;
  producers.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
      if (!name.empty()) producers.emplace(name, i);
    }
  }
  std::vector<std::vector<uint32_t>> readers(count);
  std::vector<uint32_t> waiting(count, 0);
  for (uint32_t i = 0; i < count; ++i) {
    for (const std::string_view name : ValuesReadBy(model, graph, graph.nodes[i])) {
      const auto producer = producers.find(name);
      if (producer == producers.end()) continue;
      readers[producer->second].push_back(i);
      ++waiting[i];
    }
  }
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<uint32_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const uint32_t reader : readers[node]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() == count) return order;
  uint32_t stuck = 0;
  while (waiting[stuck] == 0) ++stuck;
  return Malformed("'" + model.path() + "' has nodes that wait for each other's outputs: " +
                   DescribeNode(graph, stuck) + " can never run");
}

}  // namespace vernier
