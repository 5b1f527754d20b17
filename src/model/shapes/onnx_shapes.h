// Sizes of intermediate values, once the sizes of the inputs are known: enough to know how long the
// sums of a graph are. What the rules do not cover stays unknown; nothing here has to be complete.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/onnx/function_table.h"
#include "model/onnx/onnx_model.h"
#include "vernier/tensor.h"

namespace vernier {

class NodeAttributes;

/// The sizes of a graph's input as it is fed.
struct InputDims {
  std::string name;
  Dims dims;
};

/// Which of a model's declarations are taken for true from the start.
enum class ShapeTrust : uint8_t {
  kAll,     ///< inputs, outputs and what is annotated between them
  kInputs,  ///< inputs alone: for whoever checks the others
};

/// Follows sizes from node to node, in the order in which Visit is called. Views into the model.
class ShapeTracker {
 public:
  /// Starts from initializers, fixed sizes in the model's declarations, and `inputs`, which win.
  ShapeTracker(const OnnxModel& model, std::span<const InputDims> inputs,
               ShapeTrust trust = ShapeTrust::kAll);

  /// The initializers and declarations of a sub-graph.
  void Declare(const OnnxGraph& graph);

  /// Finds the sizes of the node's outputs; not those of calls of the model's own functions, and of
  /// operators of domains other than ONNX's and ONNX Runtime's.
  void Visit(const OnnxGraph& graph, const OnnxNode& node);

  /// Takes the sizes of a tensor that no rule finds, if they are complete.
  void Assume(const OnnxValue& value);

  /// The same of a value that the caller knows of.
  void Assume(std::string_view name, std::optional<Dims> dims);

  /// Uses these as the values of a tensor of integers that is not constant.
  void AssumeInts(std::string_view name, std::vector<int64_t> values) {
    numbers_.try_emplace(name, std::move(values));
  }

  /// nullptr while unknown.
  const Dims* Find(std::string_view name) const;

  /// The values of a small constant of integers, or those assumed; nullopt for anything else.
  std::optional<std::vector<int64_t>> Ints(std::string_view name) const;

  /// The axes that a reduction or (un)squeeze names, in its attribute or its second input.
  std::optional<std::vector<int64_t>> Axes(const OnnxGraph& graph, const OnnxNode& node) const;

 private:
  void Store(std::string_view name, std::optional<Dims> dims);
  void StoreNumbers(std::string_view name, NodeAttributes& attributes);

  const OnnxModel& model_;
  const ShapeTrust trust_;
  const FunctionTable functions_;
  std::unordered_map<std::string_view, Dims> dims_;
  std::unordered_map<std::string_view, OnnxTensor> constants_;
  std::unordered_map<std::string_view, std::vector<int64_t>> numbers_;  // of other constants
};

}  // namespace vernier
