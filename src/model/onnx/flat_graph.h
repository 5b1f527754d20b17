// A model as one graph: what is in bodies of If, Loop and Scan, and in the model's own functions,
// stands beside the other nodes. Internal to model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/onnx/function_table.h"
#include "model/onnx/onnx_model.h"

namespace vernier {

/// Names are unique: a value of a body is another one than its namesake in the other branch, and a
/// function has values of its own in each call, with its formal inputs and outputs replaced by the
/// actual ones. Such names are for ShownName.
class FlatGraph {
 public:
  /// `model` must outlive the graph. Calls that are too many or too deep stay nodes, of a domain
  /// that IsForeign().
  explicit FlatGraph(const OnnxModel& model);

  FlatGraph(const FlatGraph&) = delete;
  FlatGraph& operator=(const FlatGraph&) = delete;

  /// Nodes in the order in which they can run, those of a body before the node that has it, and
  /// without sub-graphs; initializers of all graphs, and what bodies declare as `value_info`.
  const OnnxGraph& graph() const { return flat_; }

  /// The names under which a value continues: inside of a body, outside of it, in the next round.
  const std::vector<std::string_view>& Continuing(std::string_view name) const;

  /// The axis along which a Scan takes apart what continues under this name, a slice a round; it
  /// may be negative. nullopt for any other name.
  std::optional<int64_t> SlicedAxis(std::string_view name) const;

  /// The names that count a Loop's rounds from 0 on, whose number is the value.
  const std::vector<std::string_view>& Counters(std::string_view rounds) const;

  /// The value that is the number of rounds that a name counts; empty for any other.
  std::string_view RoundsOf(std::string_view counter) const;

 private:
  using Names = std::unordered_map<std::string_view, std::string_view>;
  // The names of a graph that are called otherwise in the flat one; others are those around it.
  struct Scope {
    const Scope* around = nullptr;
    Names names;

    std::string_view Find(std::string_view name) const;
  };

  void Add(const OnnxGraph& graph, const Scope& scope, bool in_function);
  void AddNode(const OnnxGraph& graph, OnnxNode node, const Scope& scope);
  void AddBody(const OnnxGraph& graph, const OnnxNode& node, const OnnxGraph& body,
               const Scope& around, bool in_function);
  bool AddCall(const OnnxGraph& graph, const OnnxNode& call, const Scope& around);
  void Own(const OnnxGraph& graph, Scope& scope);
  void Declare(const OnnxGraph& graph, const Scope& scope);
  size_t Kept() const;
  void Link(std::string_view from, std::string_view to);
  bool ReadsAttributesOfCall(const OnnxNode& node) const;

  const OnnxModel& model_;
  const FunctionTable functions_;
  OnnxGraph flat_;
  size_t bodies_ = 0;
  size_t depth_ = 0;               // of calls
  size_t read_ = 0;                // in calls: not all of it is kept
  std::deque<std::string> owned_;  // names
  size_t owned_size_ = 0;          // not in bytes
  std::unordered_map<std::string_view, std::vector<std::string_view>> continuing_, counters_;
  Names rounds_;
  std::unordered_map<std::string_view, int64_t> sliced_;
};

/// The name that a value of a flat graph has in the model.
std::string_view ShownName(std::string_view name);

/// An operator whose meaning is not known here.
bool IsForeign(const OnnxNode& node);

}  // namespace vernier
