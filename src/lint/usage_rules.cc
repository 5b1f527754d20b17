// What no output of the model depends on.
#include <unordered_map>
#include <unordered_set>

#include "lint/lint.h"
#include "lint/rule_groups.h"
#include "model/onnx/onnx_order.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

// Marks the nodes of a graph that an output of it depends on, and what they read.
struct Reach {
  Reach(const OnnxModel& model, const OnnxGraph& graph) : nodes(graph.nodes.size(), false) {
    std::unordered_map<std::string_view, uint32_t> producers;
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
        if (!name.empty()) producers[name] = i;
      }
    }
    std::vector<std::string_view> waiting;
    for (const OnnxValue& output : graph.outputs) waiting.push_back(output.name);
    while (!waiting.empty()) {
      const std::string_view name = waiting.back();
      waiting.pop_back();
      if (!values.insert(name).second) continue;
      const auto producer = producers.find(name);
      if (producer == producers.end() || nodes[producer->second]) continue;
      nodes[producer->second] = true;
      for (const std::string_view read :
           ValuesReadBy(model, graph, graph.nodes[producer->second])) {
        waiting.push_back(read);
      }
    }
  }

  std::vector<bool> nodes;
  Names values;
};

// Names that nodes of any graph read, and outputs of any graph.
Names ReadAnywhere(const OnnxModel& model) {
  Names read;
  const auto take = [&](const OnnxGraph& graph) {
    for (const OnnxNode& node : graph.nodes) {
      const auto inputs = graph.Inputs(node);
      read.insert(inputs.begin(), inputs.end());
    }
    for (const OnnxValue& output : graph.outputs) read.insert(output.name);
  };
  take(model.graph());
  for (const OnnxGraph& graph : model.contents().subgraphs) take(graph);
  return read;
}

}  // namespace

std::vector<bool> NodesOutputsDependOn(const OnnxModel& model) {
  return Reach(model, model.graph()).nodes;
}

void CheckUsage(const LintSubject& subject) {
  const OnnxModel& model = subject.model;
  const OnnxGraph& graph = model.graph();
  if (graph.nodes.empty()) return;
  const Reach reach(model, graph);
  const Names read = ReadAnywhere(model);
  Names weights;
  const auto weight = [&](std::string_view name) {
    if (name.empty() || !weights.insert(name).second || read.contains(name)) return;
    subject.findings.Add(lint_rule::kUnusedWeight,
                         "initializer " + QuotePython(name) + " is not used by any node");
  };
  Names defaults;
  for (const OnnxTensor& tensor : graph.initializers) defaults.insert(tensor.name);
  for (const OnnxValue& input : graph.inputs) {
    if (defaults.contains(input.name) || reach.values.contains(input.name)) continue;
    subject.findings.Add(lint_rule::kUnusedInput, "Input: '" + std::string(input.name) +
                                                      "' does not affect outputs, can be removed.");
  }
  for (const OnnxTensor& tensor : graph.initializers) weight(tensor.name);
  for (const std::string_view name : graph.sparse_initializers) weight(name);
  for (const OnnxGraph& body : model.contents().subgraphs) {
    for (const OnnxTensor& tensor : body.initializers) weight(tensor.name);
  }
  const std::string unused = "Does not affect outputs, can be removed.";
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (!reach.nodes[i]) subject.findings.Add(lint_rule::kUnusedNode, unused, std::span(&i, 1));
  }
  ForEachLintNode(model, [&](const LintNode& owner) {
    for (const OnnxSubgraph& link : owner.graph.Subgraphs(owner.node)) {
      const OnnxGraph& body = model.Subgraph(link);
      const std::vector<bool> needed = Reach(model, body).nodes;
      for (size_t i = 0; i < needed.size(); ++i) {
        if (needed[i]) continue;
        subject.findings.Add(lint_rule::kUnusedNode, unused,
                             {body, body.nodes[i], owner.top, true});
      }
    }
  });
}

}  // namespace vernier
