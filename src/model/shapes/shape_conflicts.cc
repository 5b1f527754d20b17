#include "model/shapes/shape_conflicts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_order.h"
#include "model/onnx/operator_list.h"
#include "model/shapes/size_numbers.h"

namespace vernier {
namespace {

constexpr std::string_view kBroadcast =
    "Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or Pow Sub Sum "
    "Where Xor";

bool Broadcasts(const Dims& a, const Dims& b) {
  for (size_t back = 1; back <= std::min(a.size(), b.size()); ++back) {
    const int64_t x = a[a.size() - back], y = b[b.size() - back];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

bool Joins(const Dims& a, const Dims& b, int64_t axis) {
  if (a.size() != b.size()) return false;
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(a.size()) : axis);
  for (size_t i = 0; i < a.size(); ++i) {
    if (i != at && a[i] != b[i]) return false;
  }
  return true;
}

class ConflictSearch {
 public:
  ConflictSearch(const OnnxModel& model, std::span<const InputDims> inputs)
      : model_(model), shapes_(model, inputs, ShapeTrust::kInputs) {
    for (const OnnxTensor& weight : model.graph().initializers) weights_[weight.name] = weight;
  }

  std::string Find(const std::vector<uint32_t>& order) {
    for (const uint32_t index : order) {
      const OnnxNode& node = model_.graph().nodes[index];
      std::string conflict = ConflictAt(node);
      if (!conflict.empty()) return conflict;
      Follow(node);
    }
    return "";
  }

 private:
  void Follow(const OnnxNode& node) {
    const OnnxGraph& graph = model_.graph();
    const auto outputs = graph.Outputs(node);
    if (outputs.empty()) return;
    if (node.op_type == "Constant") {
      NodeAttributes attributes(model_, node);
      const OnnxAttribute* const value = attributes.Find("value");
      if (value != nullptr && value->tensor) weights_[outputs[0]] = *value->tensor;
    }
    auto numbers = NumbersOfSizes(model_, graph, node, shapes_);
    if (numbers) shapes_.AssumeInts(outputs[0], *std::move(numbers));
    shapes_.Visit(graph, node);
    if (node.op_type == "Resize" && shapes_.Find(outputs[0]) == nullptr) {
      shapes_.Assume(outputs[0], Resized(graph.Inputs(node)));
    }
  }

  // By constant factors, or to known sizes.
  std::optional<Dims> Resized(std::span<const std::string_view> inputs) const {
    const Dims* const x = inputs.empty() ? nullptr : shapes_.Find(inputs[0]);
    if (x == nullptr) return std::nullopt;
    if (inputs.size() > 3) {
      auto sizes = shapes_.Ints(inputs[3]);
      return sizes && sizes->size() == x->size() ? std::optional(*std::move(sizes)) : std::nullopt;
    }
    const auto factors = weights_.find(inputs.size() > 2 ? inputs[2] : inputs.back());
    if (inputs.size() < 2 || factors == weights_.end()) return std::nullopt;
    const std::string_view bytes = factors->second.raw_data;
    if (factors->second.dtype != DType::kFloat32 || bytes.size() != x->size() * sizeof(float)) {
      return std::nullopt;
    }
    Dims sizes;
    for (size_t i = 0; i < x->size(); ++i) {
      float factor = 0;
      std::memcpy(&factor, bytes.data() + i * sizeof factor, sizeof factor);
      const double size = std::floor(static_cast<double>((*x)[i]) * static_cast<double>(factor));
      if (!(size >= 0) || size > 1e9) return std::nullopt;
      sizes.push_back(static_cast<int64_t>(size));
    }
    return sizes;
  }

  std::string ConflictAt(const OnnxNode& node) const {
    const bool joins = node.op_type == "Concat";
    const bool standard = node.domain.empty() || node.domain == "ai.onnx";
    if (!standard || (!joins && !IsInOperators(kBroadcast, node.op_type))) return "";
    const int64_t axis = joins ? NodeAttributes(model_, node).Int("axis", 0) : 0;
    std::vector<const Dims*> known;
    for (const std::string_view name : model_.graph().Inputs(node)) {
      const Dims* const dims = shapes_.Find(name);
      if (dims == nullptr) continue;
      for (const Dims* const other : known) {
        if (joins ? Joins(*other, *dims, axis) : Broadcasts(*other, *dims)) continue;
        return "node '" + std::string(node.name) + "' (" + std::string(node.op_type) +
               ") is given " + FormatDims(*other) + " and " + FormatDims(*dims);
      }
      known.push_back(dims);
    }
    return "";
  }

  const OnnxModel& model_;
  ShapeTracker shapes_;
  std::unordered_map<std::string_view, OnnxTensor> weights_;
};

}  // namespace

std::string FindShapeConflict(const OnnxModel& model, std::span<const InputDims> inputs) {
  const Result<std::vector<uint32_t>> order = TopologicalOrder(model);
  return order.ok() ? ConflictSearch(model, inputs).Find(*order) : "";
}

}  // namespace vernier
