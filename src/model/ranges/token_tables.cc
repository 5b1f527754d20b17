#include "model/ranges/token_tables.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/onnx/onnx_attributes.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// What hands its first input on, each element as it is.
constexpr std::string_view kHandsInputOn[] = {"Identity", "Cast",    "Reshape",  "Unsqueeze",
                                              "Squeeze",  "Flatten", "Transpose"};

// What makes the values of a weight, row by row, of those that are in the file.
constexpr std::string_view kReadsWeight[] = {"Identity", "Cast", "DequantizeLinear"};
constexpr std::string_view kScalesWeight[] = {"Mul", "Div", "Add", "Sub"};

bool IsOfOnnx(const OnnxNode& node) { return node.domain.empty() || node.domain == "ai.onnx"; }

bool IsAmongThese(std::span<const std::string_view> operators, const OnnxNode& node) {
  return IsOfOnnx(node) && std::ranges::find(operators, node.op_type) != operators.end();
}

std::string LookUpInWords(const OnnxNode& node) {
  const std::string op(node.op_type);
  return node.name.empty() ? op : op + " " + QuotePython(node.name);
}

// The values that outputs depend on; those of bodies are not looked into.
std::unordered_set<std::string_view> NeededValues(const OnnxGraph& graph) {
  std::unordered_set<std::string_view> needed;
  for (const OnnxValue& output : graph.outputs) needed.insert(output.name);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool used = std::ranges::any_of(
        graph.Outputs(*node), [&](std::string_view output) { return needed.contains(output); });
    if (!used) continue;
    for (const std::string_view input : graph.Inputs(*node)) needed.insert(input);
  }
  return needed;
}

// By the values that are made of them alone.
using HeldWeights = std::unordered_map<std::string_view, const OnnxTensor*>;

// The weight whose rows those of a node's output are; nullptr: none that is known.
const OnnxTensor* WeightBehind(const HeldWeights& weights, const OnnxNode& node,
                               std::span<const std::string_view> inputs) {
  const auto first = weights.find(inputs[0]);
  if (first == weights.end()) return nullptr;
  if (IsAmongThese(kReadsWeight, node)) return first->second;
  if (!IsAmongThese(kScalesWeight, node) || inputs.size() != 2) return nullptr;
  const auto second = weights.find(inputs[1]);
  if (second == weights.end()) return nullptr;
  const Dims &a = first->second->dims, &b = second->second->dims;
  if (a.size() != b.size()) return (a.size() > b.size() ? first : second)->second;
  return a.empty() ? nullptr : (a[0] >= b[0] ? first : second)->second;
}

// Which input of a node are indices, and which the table.
struct LookUp {
  size_t indices = 0, table = 0;
};

std::optional<LookUp> LookUpOf(const OnnxModel& model, const OnnxNode& node) {
  if (node.op_type == "EmbedLayerNormalization") return LookUp{0, 2};
  if (node.op_type != "Gather" || !IsOfOnnx(node)) return std::nullopt;
  NodeAttributes attributes(model, node);
  if (attributes.Int("axis", 0) != 0) return std::nullopt;
  return LookUp{1, 0};
}

}  // namespace

std::vector<TokenTable> FindTokenTables(const OnnxModel& model) {
  const OnnxGraph& graph = model.graph();
  HeldWeights weights;
  for (const OnnxTensor& weight : graph.initializers) weights.emplace(weight.name, &weight);
  std::unordered_map<std::string_view, std::string_view> inputs;  // of values that hold one
  for (const OnnxValue& input : graph.inputs) {
    const bool whole = input.dtype == DType::kInt32 || input.dtype == DType::kInt64;
    if (whole && !weights.contains(input.name)) inputs.emplace(input.name, input.name);
  }
  const std::unordered_set<std::string_view> needed = NeededValues(graph);
  std::vector<TokenTable> tables;
  for (const OnnxNode& node : graph.nodes) {
    const auto from = graph.Inputs(node), to = graph.Outputs(node);
    if (from.empty() || to.empty() || !needed.contains(to[0])) continue;
    if (IsAmongThese(kHandsInputOn, node)) {
      if (const auto held = inputs.find(from[0]); held != inputs.end()) {
        inputs.emplace(to[0], held->second);
      }
    }
    if (const OnnxTensor* const weight = WeightBehind(weights, node, from)) {
      weights.emplace(to[0], weight);
    }
    const std::optional<LookUp> look_up = LookUpOf(model, node);
    if (!look_up || std::max(look_up->indices, look_up->table) >= from.size()) continue;
    const auto held = inputs.find(from[look_up->indices]);
    const auto weight = weights.find(from[look_up->table]);
    if (held == inputs.end() || weight == weights.end()) continue;
    const Dims& dims = weight->second->dims;
    if (dims.size() < 2 || dims[0] < 1) continue;
    tables.push_back({std::string(held->second), std::string(weight->second->name), dims[0],
                      LookUpInWords(node)});
  }
  return tables;
}

}  // namespace vernier
