// An input's value on its way through a graph. Internal to model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/ranges/allowed_values.h"
#include "model/ranges/range_inversion.h"

namespace vernier {

class NodeAttributes;

/// Where it is, the steps that changed it, and what kind of value it is now.
struct ValuePath {
  std::string_view name;
  std::vector<ValueStep> steps;
  ValueKind kind;
  bool whole = false;  ///< the elements are integers here
  size_t length = 0;   ///< in nodes
};

class WayRules {
 public:
  WayRules(const OnnxModel& model, UseRules& uses) : model_(model), uses_(uses) {}

  /// Follows the values through a node. False if nothing more is known about its outputs.
  bool Take(const Use& use, ValuePath& way);

  /// Whether the numbers that come out depend on those that go in.
  static bool PassesOn(const Use& use);

 private:
  void Keep(const Use& use, ValuePath& way);
  Interval ClipOf(const Use& use, NodeAttributes& attributes);
  static bool TakeTruth(std::string_view op, ValuePath& way);
  std::optional<int64_t> ComparedWith(const Use& use, const ValuePath& way);
  bool TakeSum(const Use& use, ValuePath& way);
  bool TakeArithmetic(const Use& use, ValuePath& way);

  const OnnxModel& model_;
  UseRules& uses_;
};

}  // namespace vernier
