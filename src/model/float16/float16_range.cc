#include "model/float16/float16_range.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/float16/float16_names.h"
#include "model/onnx/mapped_weight.h"
#include "model/onnx/onnx_parser.h"
#include "model/onnx/wire_fields.h"

namespace vernier {
namespace {

// Their outputs hold what their inputs hold.
constexpr std::string_view kRearranging[] = {
    "Concat", "Constant", "Expand",  "Flatten", "Gather",    "Identity", "Reshape",
    "Slice",  "Split",    "Squeeze", "Tile",    "Transpose", "Unsqueeze"};

bool Rearranges(const OnnxNode& node) {
  return std::find(std::begin(kRearranging), std::end(kRearranging), node.op_type) !=
         std::end(kRearranging);
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

}  // namespace

bool BeyondFloat16::IsBeyond(const OnnxTensor& tensor) const {
  if (tensor.onnx_type != kOnnxFloat) return false;
  for (const ReplacedValues& values : sources_.detached) {
    if (values.tensor.bytes.data() != tensor.bytes.data()) continue;
    const std::span<const BytePiece> pieces = values.values.pieces();
    return std::any_of(pieces.begin(), pieces.end(), [](const BytePiece& piece) {
      return AnyBeyond(std::as_bytes(std::span(piece.bytes)));
    });
  }
  if (tensor.external && sources_.external == nullptr) return false;
  const Result<MappedWeight> weight = MapWeight(model_, tensor, sources_.places);
  return weight.ok() && AnyBeyond(weight->values.bytes());
}

bool BeyondFloat16::MakesBeyond(const OnnxNode& node) const {
  if (node.op_type != "Constant" && node.op_type != "ConstantOfShape") return false;
  for (const WireField& field : FieldsOf(node.bytes, OnnxMessage::kNode)) {
    if (field.number != 5 || field.type != WireType::kBytes) continue;
    for (const WireField& value : FieldsOf(field.content, OnnxMessage::kAttribute)) {
      if (value.number != 5 || value.type != WireType::kBytes) continue;
      OnnxTensor tensor;
      WireSource source(value.content);
      ParseOnnxTensor(WireReader(source, OnnxMessage::kTensor, value.content), tensor);
      if (IsBeyond(tensor)) return true;
    }
  }
  return false;
}

void BeyondFloat16::Visit(const OnnxGraph& graph, Names beyond, Float16Kept& kept,
                          std::vector<std::string>& named) const {
  for (const OnnxTensor& tensor : graph.initializers) {
    if (IsBeyond(tensor)) beyond.insert(tensor.name);
  }
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
      Visit(model_.Subgraph(link), beyond, kept, named);
    }
    if (node.subgraph_count > 0 || functions_.IsCall(node)) continue;
    const std::span<const std::string_view> inputs = graph.Inputs(node);
    const bool made = MakesBeyond(node);
    const bool read = std::any_of(inputs.begin(), inputs.end(),
                                  [&](std::string_view name) { return beyond.contains(name); });
    if (!made && !read) continue;
    kept.insert(&node);
    if (made || Rearranges(node)) {
      for (const std::string_view output : graph.Outputs(node)) beyond.insert(output);
    } else {
      named.emplace_back(node.name.empty() ? node.op_type : node.name);
    }
  }
}

}  // namespace vernier
