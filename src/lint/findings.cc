#include "lint/findings.h"

#include <algorithm>
#include <unordered_set>

namespace vernier {
namespace {

void Visit(const OnnxModel& model, const LintNode& at,
           const std::function<void(const LintNode&)>& visit) {
  visit(at);
  for (const OnnxSubgraph& link : at.graph.Subgraphs(at.node)) {
    const OnnxGraph& body = model.Subgraph(link);
    for (const OnnxNode& node : body.nodes) Visit(model, {body, node, at.top, true}, visit);
  }
}

}  // namespace

void ForEachLintNode(const OnnxModel& model, const std::function<void(const LintNode&)>& visit) {
  const OnnxGraph& graph = model.graph();
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    Visit(model, {graph, graph.nodes[i], i, false}, visit);
  }
}

std::vector<std::string> LintNodeNames(const OnnxGraph& graph) {
  std::unordered_set<std::string> taken;
  for (const OnnxNode& node : graph.nodes) taken.emplace(node.name);
  std::vector<std::string> names;
  size_t next = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    std::string name(graph.nodes[i].name);
    if (name.empty()) {
      const std::string wanted = "polygraphy_unnamed_node_" + std::to_string(i);
      name = wanted;
      while (taken.contains(name)) name = wanted + "_" + std::to_string(next++);
      taken.insert(name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

Findings::Findings(const OnnxModel& model, std::span<const std::string> ignored)
    : model_(model),
      ignored_(ignored),
      names_(LintNodeNames(model.graph())),
      failed_(names_.size(), false) {}

void Findings::Push(const LintRule& rule, LintFinding finding, std::span<const uint32_t> nodes) {
  if (std::find(ignored_.begin(), ignored_.end(), rule.name) != ignored_.end()) return;
  finding.rule = rule.name;
  for (const uint32_t node : nodes) {
    finding.nodes.push_back(names_[node]);
    if (finding.level == LintLevel::kException) failed_[node] = true;
  }
  if (nodes.size() == 1) finding.op = model_.graph().nodes[nodes.front()].op_type;
  any_exception_ |= finding.level == LintLevel::kException;
  findings_.push_back(std::move(finding));
}

void Findings::Add(const LintRule& rule, std::string message) {
  Add(rule, std::move(message), std::span<const uint32_t>());
}

void Findings::Add(const LintRule& rule, std::string message, const LintNode& node) {
  if (!node.nested) return Add(rule, std::move(message), std::span(&node.top, 1));
  // A body is part of a node, of which the checker says nothing, and its graph is not looked into.
  std::string_view source = rule.source;
  if (source == lint_source::kChecker) source = lint_source::kRuntime;
  if (source == lint_source::kGraph) source = lint_source::kVernier;
  AddFrom(rule, rule.level, std::string(source), Describe(node) + ": " + message, node.top);
}

void Findings::Add(const LintRule& rule, std::string message, std::span<const uint32_t> nodes) {
  LintFinding finding;
  finding.level = rule.level;
  finding.source = rule.source;
  finding.message = std::move(message);
  Push(rule, std::move(finding), nodes);
}

void Findings::AddFrom(const LintRule& rule, LintLevel level, std::string source,
                       std::string message, std::optional<uint32_t> node) {
  LintFinding finding;
  finding.level = level;
  finding.source = std::move(source);
  finding.message = std::move(message);
  const std::span<const uint32_t> nodes =
      node ? std::span<const uint32_t>(&*node, 1) : std::span<const uint32_t>();
  Push(rule, std::move(finding), nodes);
}

std::string Findings::Describe(const LintNode& node) const {
  const std::string& top = names_[node.top];
  if (!node.nested) return top;
  const std::string name(node.node.name.empty() ? node.node.op_type : node.node.name);
  return name + " in a body of " + top;
}

}  // namespace vernier
