#include "blame/non_finite.h"

#include "blame/tensor_judge.h"

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
    return record;
  }
  return {};
}

}  // namespace vernier
