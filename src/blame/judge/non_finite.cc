#include "blame/judge/non_finite.h"

#include <algorithm>

#include "blame/judge/tensor_judge.h"
#include "io/test_data/tensor_proto.h"
#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

bool IsBad(const MagnitudeRecord& values) { return values.nan_count + values.infinite_count > 0; }

// Absent: one of them is not finite itself.
std::optional<std::vector<BlameOperand>> FiniteOperands(const BlameGraph& graph,
                                                        const Island& island,
                                                        const TensorSource& side) {
  std::vector<BlameOperand> operands;
  for (const std::string_view name : graph.InputsOf(island)) {
    const Tensor* operand = side(name);
    if (operand == nullptr) continue;
    operands.push_back({std::string(name), RecordMagnitudes(*operand)});
    if (IsBad(operands.back().values)) return {};
  }
  return operands;
}

// Weights of networks are finite: of large ones nothing is read.
constexpr size_t kMostConstantBytes = size_t{1} << 20;

void AddIfBad(std::string_view name, const OnnxTensor& stored,
              std::vector<BlameOperand>& operands) {
  if (stored.external || stored.bytes.size() > kMostConstantBytes) return;
  const Result<NamedTensor> parsed = ParseTensorProto(std::as_bytes(std::span(stored.bytes)));
  if (!parsed.ok()) return;
  const MagnitudeRecord values = RecordMagnitudes(parsed->tensor);
  if (IsBad(values)) operands.push_back({std::string(name), values});
}

// The island's constants that are not finite.
void AddBadConstants(const BlameGraph& graph, const Island& island,
                     std::vector<BlameOperand>& operands) {
  for (const uint32_t index : island.nodes) {
    const OnnxNode& node = graph.graph().nodes[index];
    const auto inputs = graph.graph().Inputs(node);
    for (const OnnxTensor& weight : graph.graph().initializers) {
      const bool reads = std::find(inputs.begin(), inputs.end(), weight.name) != inputs.end();
      if (reads) AddIfBad(weight.name, weight, operands);
    }
    const auto outputs = graph.graph().Outputs(node);
    if (node.op_type != "Constant" || outputs.empty()) continue;
    NodeAttributes attributes(graph.model(), node);
    const OnnxAttribute* value = attributes.Find("value");
    if (value != nullptr && value->tensor) AddIfBad(outputs[0], *value->tensor, operands);
  }
}

}  // namespace

std::optional<NonFiniteRecord> MadeNonFinite(const BlameLayerRecord& layer, const BlameGraph& graph,
                                             const Island& island, const SideSources& sides) {
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const BlameTensorRecord& tensor = layer.outputs[i];
    if (!IsBad(tensor.reference) && !IsBad(tensor.candidate)) continue;
    const bool theirs = IsBad(tensor.candidate);
    const TensorSource& side = theirs ? sides.candidate : sides.reference;
    std::optional<std::vector<BlameOperand>> operands = FiniteOperands(graph, island, side);
    if (!operands) return {};
    const MagnitudeRecord& counts = theirs ? tensor.candidate : tensor.reference;
    NonFiniteRecord record;
    record.node = layer.node;
    record.op_type = layer.op_type;
    record.output = tensor.name;
    record.side = !theirs ? "reference" : IsBad(tensor.reference) ? "both" : "candidate";
    record.nan_count = counts.nan_count;
    record.infinite_count = counts.infinite_count;
    record.first = FirstNotFinite(*side(island.outputs[i]));
    record.operands = *std::move(operands);
    AddBadConstants(graph, island, record.operands);
    return record;
  }
  return {};
}

}  // namespace vernier
