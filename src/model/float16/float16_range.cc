#include "model/float16/float16_range.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "model/float16/float16_names.h"
#include "model/onnx/mapped_weight.h"

namespace vernier {
namespace {

// Below this, a step of float16, 6e-8, is more than a fifth of the number.
constexpr float kSmallestScalar = 3e-7F;

// Their outputs hold what their inputs hold.
constexpr std::string_view kRearranging[] = {
    "Concat",  "Constant", "ConstantOfShape", "Expand",  "Flatten", "Gather",    "Identity",
    "Reshape", "Slice",    "Split",           "Squeeze", "Tile",    "Transpose", "Unsqueeze"};

// A small input may make a small output.
constexpr std::string_view kStaysSmall[] = {"Clip", "Max", "Sqrt"};

// Zero in place of a small input makes another output, or none.
constexpr std::string_view kMagnifying[] = {"Log", "Pow", "Reciprocal"};

template <size_t kCount>
bool IsOneOf(const std::string_view (&operators)[kCount], const OnnxNode& node) {
  return std::find(std::begin(operators), std::end(operators), node.op_type) != std::end(operators);
}

bool KeepsSmall(const OnnxNode& node) {
  return IsOneOf(kRearranging, node) || IsOneOf(kStaysSmall, node);
}

// Does the small size of input `i` count?
bool Magnifies(const OnnxNode& node, size_t i) {
  return KeepsSmall(node) || IsOneOf(kMagnifying, node) || (node.op_type == "Div" && i == 1);
}

bool AnyBeyond(std::span<const std::byte> floats) {
  uint32_t limit = 0, found = 0;
  std::memcpy(&limit, &kLargestFloat16, sizeof(limit));
  constexpr uint32_t kInfinite = 0x7f800000;
  for (size_t at = 0; at + sizeof(uint32_t) <= floats.size(); at += sizeof(uint32_t)) {
    uint32_t bits = 0;
    std::memcpy(&bits, floats.data() + at, sizeof(bits));
    bits &= 0x7fffffffu;
    found |= static_cast<uint32_t>(bits > limit) & static_cast<uint32_t>(bits < kInfinite);
  }
  return found != 0;
}

bool IsTiny(std::span<const std::byte> floats) {
  float value = 0;
  if (floats.size() != sizeof(value)) return false;
  std::memcpy(&value, floats.data(), sizeof(value));
  return value != 0 && std::abs(value) < kSmallestScalar;
}

bool AllTyped(std::span<const std::string_view> names, const ValueTypes& types) {
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    const auto found = types.find(name);
    return name.empty() || (found != types.end() && found->second != 0);
  });
}

}  // namespace

bool BeyondFloat16::Holds(const OnnxTensor& tensor, Test test) const {
  if (tensor.onnx_type != kOnnxFloat) return false;
  for (const ReplacedValues& values : sources_.detached) {
    if (values.tensor.bytes.data() != tensor.bytes.data()) continue;
    const std::span<const BytePiece> pieces = values.values.pieces();
    return std::any_of(pieces.begin(), pieces.end(), [&](const BytePiece& piece) {
      return test(std::as_bytes(std::span(piece.bytes)));
    });
  }
  if (tensor.external && sources_.external == nullptr) return false;
  const Result<MappedWeight> weight = MapWeight(model_, tensor, sources_.places);
  return weight.ok() && test(weight->values.bytes());
}

// A Clip without inputs has its limits as attributes; the default of the upper one is beyond.
bool BeyondFloat16::Makes(const OnnxNode& node, Test test) const {
  const bool clips = node.op_type == "Clip" && test == IsTiny;
  if (!clips && node.op_type != "Constant" && node.op_type != "ConstantOfShape") return false;
  const std::vector<OnnxAttribute> attributes = model_.Attributes(node);
  return std::any_of(attributes.begin(), attributes.end(), [&](const OnnxAttribute& attribute) {
    if (attribute.tensor) return Holds(*attribute.tensor, test);
    const bool number = clips || attribute.name == "value_float";
    return number && test(std::as_bytes(std::span(&attribute.f, 1)));
  });
}

void BeyondFloat16::VisitNode(const OnnxGraph& graph, const OnnxNode& node, const ValueTypes& types,
                              Values& values) {
  const std::span<const std::string_view> inputs = graph.Inputs(node);
  const auto reads = [&](const Names& names) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](std::string_view name) { return names.contains(name); });
  };
  const bool typed = AllTyped(inputs, types) && AllTyped(graph.Outputs(node), types);
  const bool beyond = Makes(node, AnyBeyond) || reads(values.beyond);
  const bool tiny = typed && (Makes(node, IsTiny) || reads(values.tiny));
  bool small = false;
  for (size_t i = 0; typed && i < inputs.size(); ++i) {
    small |= values.small.contains(inputs[i]) && Magnifies(node, i);
  }
  if (!beyond && !tiny && !small) return;
  kept_.insert(&node);
  const bool moves = IsOneOf(kRearranging, node);
  for (const std::string_view output : graph.Outputs(node)) {
    if (beyond && moves) values.beyond.insert(output);
    if (tiny && moves) values.tiny.insert(output);
    if ((tiny && !moves) || (small && KeepsSmall(node))) values.small.insert(output);
  }
  if (moves) return;
  auto& named = beyond ? edit_.out_of_range : edit_.near_zero;
  named.emplace_back(node.name.empty() ? node.op_type : node.name);
}

void BeyondFloat16::Visit(const OnnxGraph& graph, const ValueTypes& types, Values values) {
  for (const OnnxTensor& tensor : graph.initializers) {
    if (Holds(tensor, AnyBeyond)) values.beyond.insert(tensor.name);
    if (Holds(tensor, IsTiny)) values.tiny.insert(tensor.name);
  }
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
      const OnnxGraph& body = model_.Subgraph(link);
      Visit(body, functions_.inference().OfBody(graph, node, body, types), values);
    }
    if (node.subgraph_count > 0 || functions_.IsCall(node)) continue;
    VisitNode(graph, node, types, values);
  }
}

}  // namespace vernier
