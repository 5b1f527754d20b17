// Who defines a tensor, who reads it, and in which order.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lint/rule_groups.h"
#include "model/onnx/onnx_order.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

std::string NotUnique(std::string_view name, std::string_view what) {
  return "Graph must be in single static assignment (SSA) form, however " + QuotePython(name) +
         " has been used as " + std::string(what) + " names multiple times.";
}

// Nodes of the main graph that wait for each other; empty if there are none.
std::vector<uint32_t> FindCycle(const OnnxModel& model) {
  const OnnxGraph& graph = model.graph();
  std::unordered_map<std::string_view, uint32_t> producers;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
      if (!name.empty()) producers.emplace(name, i);
    }
  }
  // What is there from the start waits for no node, even if one defines it again.
  for (const OnnxValue& input : graph.inputs) producers.erase(input.name);
  for (const OnnxTensor& tensor : graph.initializers) producers.erase(tensor.name);
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(graph.nodes.size(), Mark::kNew);
  struct Visit {
    uint32_t node;
    std::vector<std::string_view> reads;
    size_t next = 0;
  };
  std::vector<Visit> path;
  const auto open = [&](uint32_t node) {
    marks[node] = Mark::kOpen;
    path.push_back({node, ValuesReadBy(model, graph, graph.nodes[node])});
  };
  for (uint32_t start = 0; start < graph.nodes.size(); ++start) {
    if (marks[start] == Mark::kNew) open(start);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next == visit.reads.size()) {
        marks[visit.node] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const auto producer = producers.find(visit.reads[visit.next++]);
      if (producer == producers.end() || marks[producer->second] == Mark::kDone) continue;
      if (marks[producer->second] == Mark::kNew) {
        open(producer->second);
        continue;
      }
      std::vector<uint32_t> cycle;
      const auto first = std::find_if(path.begin(), path.end(), [&](const Visit& step) {
        return step.node == producer->second;
      });
      for (auto step = first; step != path.end(); ++step) cycle.push_back(step->node);
      return cycle;
    }
  }
  return {};
}

class NameCheck {
 public:
  explicit NameCheck(const LintSubject& subject)
      : subject_(subject), findings_(subject.findings), cycle_(FindCycle(subject.model)) {}

  void Run() {
    const OnnxGraph& graph = subject_.model.graph();
    CheckNodeNames(graph);
    if (!cycle_.empty()) ReportCycle();
    Graph(graph, nullptr);
    Names listed;
    for (const OnnxValue& output : graph.outputs) {
      if (output.name.empty() || listed.insert(output.name).second) continue;
      findings_.Add(lint_rule::kDuplicateOutput,
                    "output " + QuotePython(output.name) + " is listed more than once");
    }
  }

 private:
  // What one graph defines: up to the node that is looked at, and anywhere.
  struct Scope {
    Names so_far, all;
  };

  void CheckNodeNames(const OnnxGraph& graph) {
    std::unordered_map<std::string_view, std::vector<uint32_t>> by_name;
    size_t nameless = 0;
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      nameless += graph.nodes[i].name.empty() ? 1 : 0;
      by_name[graph.nodes[i].name].push_back(i);
    }
    if (nameless > 0) {
      findings_.Add(lint_rule::kUnnamedNode, std::to_string(nameless) + " of " +
                                                 std::to_string(graph.nodes.size()) +
                                                 " nodes have no name; here they are called "
                                                 "polygraphy_unnamed_node_<position>");
    }
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      const std::vector<uint32_t>& same = by_name[graph.nodes[i].name];
      if (graph.nodes[i].name.empty() || same.size() < 2 || same.front() != i) continue;
      std::string positions;
      for (const uint32_t at : same) {
        positions += (positions.empty() ? "" : ", ") + std::to_string(at);
      }
      const LintRule& rule = lint_rule::kDuplicateNodeName;
      const std::string message = "Duplicate node name: '" + std::string(graph.nodes[i].name) +
                                  "' for nodes with topological IDs: [" + positions + "] found.";
      // Runtimes make initializers of constants, and never see these names.
      const bool constants = std::all_of(same.begin(), same.end(), [&](uint32_t at) {
        return graph.nodes[at].op_type == "Constant";
      });
      if (constants) {
        findings_.AddFrom(rule, LintLevel::kWarning, std::string(rule.source), message, i);
      } else {
        findings_.Add(rule, message, std::span(&i, 1));
      }
    }
  }

  void ReportCycle() {
    std::string way;
    for (const uint32_t node : cycle_) way += findings_.NameOf(node) + " <- ";
    findings_.Add(lint_rule::kCycle,
                  "nodes wait for each other's outputs: " + way + findings_.NameOf(cycle_.front()),
                  cycle_);
  }

  // `owner`: the node that the body belongs to; null for the main graph.
  void Graph(const OnnxGraph& graph, const LintNode* owner) {
    scopes_.emplace_back();
    DefineOuter(graph, owner);
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string_view name : graph.Outputs(node)) scopes_.back().all.insert(name);
    }
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      const uint32_t top = owner == nullptr ? i : owner->top;
      Node({graph, graph.nodes[i], top, owner != nullptr});
    }
    CheckOutputs(graph, owner);
    scopes_.pop_back();
  }

  void Add(const LintRule& rule, std::string message, const LintNode* node) {
    if (node != nullptr) return findings_.Add(rule, std::move(message), *node);
    findings_.Add(rule, std::move(message));
  }

  // Inputs and initializers.
  void DefineOuter(const OnnxGraph& graph, const LintNode* owner) {
    Names inputs;
    for (const OnnxValue& value : graph.inputs) {
      if (value.name.empty()) continue;
      CheckShadow(value.name, owner);
      if (!inputs.insert(value.name).second) {
        Add(lint_rule::kDuplicateValue, NotUnique(value.name, "graph input"), owner);
      }
    }
    Names weights;
    const auto weight = [&](std::string_view name) {
      if (name.empty()) {
        return Add(lint_rule::kUnnamedWeight, "an initializer has no name: nothing can read it",
                   owner);
      }
      if (!inputs.contains(name)) CheckShadow(name, owner);
      if (weights.insert(name).second) return;
      Add(lint_rule::kDuplicateWeight,
          "several initializers are called " + QuotePython(name) +
              ": runtimes differ in which one they take",
          owner);
    };
    for (const OnnxTensor& tensor : graph.initializers) weight(tensor.name);
    for (const std::string_view name : graph.sparse_initializers) weight(name);
    for (const Names* names : {&inputs, &weights}) {
      scopes_.back().so_far.insert(names->begin(), names->end());
      scopes_.back().all.insert(names->begin(), names->end());
    }
  }

  void CheckShadow(std::string_view name, const LintNode* node) {
    for (size_t i = 0; i + 1 < scopes_.size(); ++i) {
      if (!scopes_[i].so_far.contains(name)) continue;
      return Add(lint_rule::kShadowedName,
                 "a body defines " + QuotePython(name) + ", which the graph around it has too",
                 node);
    }
  }

  void Node(const LintNode& at) {
    for (const std::string_view name : at.inputs()) Read(name, at);
    for (const OnnxSubgraph& link : at.graph.Subgraphs(at.node)) {
      Graph(subject_.model.Subgraph(link), &at);
    }
    for (const std::string_view name : at.outputs()) {
      if (name.empty()) continue;
      CheckShadow(name, &at);
      if (scopes_.back().so_far.insert(name).second) continue;
      findings_.Add(lint_rule::kDuplicateValue, NotUnique(name, "output"), at);
    }
  }

  void Read(std::string_view name, const LintNode& at) {
    if (name.empty()) return;
    const auto has = [&](const Scope& scope) { return scope.so_far.contains(name); };
    if (std::any_of(scopes_.begin(), scopes_.end(), has)) return;
    const auto will_have = [&](const Scope& scope) { return scope.all.contains(name); };
    const std::string node = at.nested ? std::string(at.node.name) : findings_.NameOf(at.top);
    // The checker's words for both.
    const std::string before = "Nodes in a graph must be topologically sorted, however input " +
                               QuotePython(name) + " of node: name: " + node +
                               " OpType: " + std::string(at.node.op_type) +
                               " is not output of any previous nodes";
    if (!std::any_of(scopes_.begin(), scopes_.end(), will_have)) {
      return findings_.Add(lint_rule::kDanglingInput,
                           before + ", nor of any other, an input or an initializer.", at);
    }
    if (std::find(cycle_.begin(), cycle_.end(), at.top) != cycle_.end()) return;
    findings_.Add(lint_rule::kNotSorted, before + ".", at);
  }

  void CheckOutputs(const OnnxGraph& graph, const LintNode* owner) {
    for (const OnnxValue& output : graph.outputs) {
      if (output.name.empty()) continue;
      const auto has = [&](const Scope& scope) { return scope.all.contains(output.name); };
      if (std::any_of(scopes_.begin(), scopes_.end(), has)) continue;
      Add(lint_rule::kDanglingOutput,
          "Graph output '" + std::string(output.name) + "' is not an output of any node in graph.",
          owner);
    }
  }

  const LintSubject& subject_;
  Findings& findings_;
  const std::vector<uint32_t> cycle_;
  std::vector<Scope> scopes_;
};

}  // namespace

void CheckNames(const LintSubject& subject) { NameCheck(subject).Run(); }

}  // namespace vernier
