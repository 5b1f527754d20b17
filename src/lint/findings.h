// Findings while they are collected, and the nodes that they are about.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lint/finding.h"
#include "model/onnx/onnx_model.h"

namespace vernier {

/// A node of the main graph, or one within a body of it.
struct LintNode {
  const OnnxGraph& graph;
  const OnnxNode& node;
  uint32_t top = 0;     ///< index of the main graph's node that it belongs to
  bool nested = false;  ///< it lies in a body

  std::span<const std::string_view> inputs() const { return graph.Inputs(node); }
  std::span<const std::string_view> outputs() const { return graph.Outputs(node); }
};

/// The names of the main graph's nodes, as reports use them. A node without a name is called as in
/// Polygraphy: "polygraphy_unnamed_node_<index>", with another number after it if that is
/// taken.
std::vector<std::string> LintNodeNames(const OnnxGraph& graph);

class Findings {
 public:
  /// `ignored` rules leave no finding. The model must outlive the object.
  Findings(const OnnxModel& model, std::span<const std::string> ignored);

  void Add(const LintRule& rule, std::string message);
  void Add(const LintRule& rule, std::string message, const LintNode& node);
  /// About several nodes of the main graph.
  void Add(const LintRule& rule, std::string message, std::span<const uint32_t> nodes);
  /// With a source and a level other than the rule's.
  void AddFrom(const LintRule& rule, LintLevel level, std::string source, std::string message,
               std::optional<uint32_t> node);

  const std::string& NameOf(uint32_t top) const { return names_[top]; }
  /// The node as messages name it: "Add_of_y", or "inner in a body of If_of_y".
  std::string Describe(const LintNode& node) const;

  /// Whether a node of the main graph has an exception.
  bool Failed(uint32_t top) const { return failed_[top]; }
  bool AnyException() const { return any_exception_; }

  std::vector<LintFinding> Take() && { return std::move(findings_); }
  std::span<const LintFinding> list() const { return findings_; }

 private:
  void Push(const LintRule& rule, LintFinding finding, std::span<const uint32_t> nodes);

  const OnnxModel& model_;
  std::span<const std::string> ignored_;
  std::vector<std::string> names_;
  std::vector<bool> failed_;
  bool any_exception_ = false;
  std::vector<LintFinding> findings_;
};

/// Calls `visit` for every node of the main graph and of all bodies, outer ones first.
void ForEachLintNode(const OnnxModel& model, const std::function<void(const LintNode&)>& visit);

}  // namespace vernier
