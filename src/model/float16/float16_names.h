// Where each value of a graph is found, in float32 and in float16, while the graph is converted:
// new names, and the casts that make them. Internal to model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/float16/float16_edit.h"
#include "model/float16/float16_functions.h"
#include "model/onnx/onnx_model.h"
#include "model/onnx/onnx_schema.h"
#include "model/shapes/onnx_infer.h"

namespace vernier {

/// TensorProto.DataType.
inline constexpr int32_t kOnnxFloat = 1, kOnnxFloat16 = 10;

/// The numbers of the fields that hold the parts of a graph; 0 where the message has no such part.
struct GraphFields {
  OnnxMessage message;
  uint32_t node, initializer, input, output, value_info;
};
inline constexpr GraphFields kFieldsOfGraph{OnnxMessage::kGraph, 1, 5, 11, 12, 13};
inline constexpr GraphFields kFieldsOfFunction{OnnxMessage::kFunction, 7, 0, 0, 0, 12};

/// One graph, or the body of a function, while it is converted. Bodies of nodes see the values of
/// the graphs around them.
struct Float16Scope {
  const OnnxGraph& graph;
  Float16Scope* outer = nullptr;
  const GraphFields& fields = kFieldsOfGraph;
  ValueTypes types = {};
  std::unordered_set<std::string_view> kept = {};  ///< inputs and initializers that stay float32
  std::unordered_map<std::string_view, std::string> half_names = {};   ///< where it is in float16
  std::unordered_map<std::string_view, std::string> float_names = {};  ///< and where in float32
  std::unordered_set<std::string_view> read_as_half = {};  ///< by a node here, or perhaps in a body
  std::vector<bool> node_stays = {};
  std::string first_casts = {};  ///< node fields for the beginning of the graph
  bool of_kept_node = false;     ///< a body of a node that is to stay: its inputs and outputs do

  /// Whether a float32 value needs a float16 twin. Who reads the results of functions is not known.
  bool HasHalf(std::string_view name) const {
    return fields.message != OnnxMessage::kGraph || read_as_half.contains(name);
  }
  bool is_main() const { return outer == nullptr && fields.message == OnnxMessage::kGraph; }
  int32_t TypeOf(std::string_view name) const {
    const auto found = types.find(name);
    return found == types.end() ? 0 : found->second;
  }
};

/// A node's inputs and outputs under their new names.
struct Float16NodeNames {
  std::vector<std::string> inputs, outputs;
  std::string casts_before, casts_after;  ///< node fields
};

class Float16Names {
 public:
  /// `outputs` are those of the main graph, which keep their names and types; `kept` stay float32.
  /// Nodes that stay float32, and values there without a known type, are reported to `edit`.
  Float16Names(const OnnxModel& model, const Float16Functions& functions,
               std::span<const std::string_view> outputs, const Float16Kept& kept,
               Float16Edit& edit);

  /// Before any node of the graph is named: which nodes stay float32, and which values are where in
  /// which type.
  void Plan(Float16Scope& scope);

  /// The names that node `index` of the graph reads and writes. In the order of the file.
  Float16NodeNames NamesOf(size_t index, Float16Scope& scope);

  bool IsOutput(std::string_view name, const Float16Scope& scope) const {
    if (!scope.of_kept_node) return scope.is_main() && outputs_.contains(name);
    return std::any_of(scope.graph.outputs.begin(), scope.graph.outputs.end(),
                       [&](const OnnxValue& output) { return output.name == name; });
  }

 private:
  void CollectNames(const OnnxGraph& graph);
  /// `name`, or with a number after it, so that it is none of `taken`; and it is one then.
  static std::string Unique(std::string name, std::unordered_set<std::string>& taken);
  /// A field of the graph or function that `scope` is of.
  std::string CastNode(const Float16Scope& scope, std::string_view from, std::string_view to,
                       int32_t type);
  void FindKept(Float16Scope& scope);
  void FindHalfReaders(Float16Scope& scope) const;
  void KeepConstants(Float16Scope& scope);
  void AddNeeds(const OnnxGraph& graph, std::unordered_set<std::string_view>& names) const;
  void AddReads(const OnnxGraph& graph, std::unordered_set<std::string_view>& names) const;
  void PlanOutputs(Float16Scope& scope);
  std::string HalfName(std::string_view name, Float16Scope& scope);
  std::string FloatName(std::string_view name, size_t index, Float16Scope& scope,
                        const OnnxNode& node, std::string& casts);
  void NameInputs(const OnnxNode& node, bool stays, Float16Scope& scope, Float16NodeNames& names);
  void NameOutputs(const OnnxNode& node, bool stays, Float16Scope& scope, Float16NodeNames& names);

  const OnnxModel& model_;
  const Float16Functions& functions_;
  std::unordered_set<std::string_view> outputs_;
  const Float16Kept& kept_;
  Float16Edit& edit_;
  std::unordered_set<std::string> names_;       ///< of values
  std::unordered_set<std::string> node_names_;  ///< no two nodes may share one
};

}  // namespace vernier
