// The candidate's graph for blame: nodes in order, which tensors are constant, and the islands into
// which a set of visible tensors divides it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/edit/onnx_islands.h"
#include "model/onnx/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

using NameSet = std::unordered_set<std::string_view>;

/// An island, and the place of its layer: of the one that it ends with.
struct LayerIsland {
  size_t layer = 0;
  Island island;
};

class BlameGraph {
 public:
  /// kMalformed for a cycle.
  static Result<BlameGraph> Make(std::shared_ptr<const OnnxModel> model);

  const OnnxModel& model() const { return *model_; }
  const OnnxGraph& graph() const { return model_->graph(); }
  const std::vector<uint32_t>& order() const { return order_; }

  /// Computed from initializers alone. Such tensors are left to the island that reads them, so that
  /// a runtime sees constants where the whole model has them.
  bool IsConstant(std::string_view name) const { return constants_.contains(name); }

  /// Made by a node of the main graph.
  bool IsMade(std::string_view name) const { return producers_.contains(name); }

  /// What the graph declares.
  bool IsInput(std::string_view name) const;
  bool IsOutput(std::string_view name) const;

  /// The graph's outputs that its nodes make, without inputs and constants that it passes through.
  std::vector<std::string> OutputNames() const;

  /// Those of `names` that nodes make, in the order of the nodes.
  std::vector<std::string> InOrder(const NameSet& names) const;

  /// One island for each of `targets`, nodes with a visible output: the node itself and those
  /// before it up to visible tensors, inputs of the graph and initializers. Constant tensors are
  /// visible only if `disputed` has them.
  std::vector<Island> Islands(std::span<const uint32_t> targets, const NameSet& visible,
                              const NameSet& disputed) const;

  /// The tensors that the island reads and does not make itself, without initializers.
  std::vector<std::string_view> InputsOf(const Island& island) const;

  /// The nodes that make these tensors, those of them that are constant, in order.
  std::vector<uint32_t> MakersOfConstants(std::span<const std::string_view> names) const;

  /// Nodes with a visible output, in order.
  std::vector<uint32_t> Targets(const NameSet& visible) const;

  /// Its name; of a node without one, its first output's.
  std::string NodeName(uint32_t node) const;

 private:
  void FindConstants();

  std::shared_ptr<const OnnxModel> model_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> place_;                       // of each node in the order
  std::vector<std::vector<std::string_view>> reads_;  // of each node, captures included
  std::unordered_map<std::string_view, uint32_t> producers_;
  NameSet initializers_;
  NameSet constants_;
};

}  // namespace vernier
