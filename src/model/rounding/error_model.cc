#include "model/rounding/error_model.h"

#include <algorithm>

#include "model/onnx/onnx_order.h"
#include "model/onnx/operator_list.h"
#include "model/rounding/error_growth.h"
#include "model/rounding/error_propagation.h"
#include "model/rounding/error_rules.h"

namespace vernier {

Result<ErrorPredictions> PredictErrors(const OnnxModel& model, std::span<const InputDims> inputs,
                                       RunnerArithmetic first, RunnerArithmetic second,
                                       std::span<const std::string> outputs, FedInputs fed,
                                       const SeenOutputs& seen) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  ErrorPropagation propagation(model, inputs, first, second, seen);
  propagation.KeepOutputs(outputs);
  propagation.Run(order, fed);
  return propagation.Take();
}

bool IsQuantiser(std::string_view op_type) {
  if (op_type == "MatMulNBits") return true;
  return std::any_of(std::begin(kErrorRules), std::end(kErrorRules), [&](const ErrorRule& rule) {
    const bool steps = rule.kind == ErrorKind::kQuantise || rule.kind == ErrorKind::kDequantise;
    return (steps || rule.steps_within) && IsInOperators(rule.operators, op_type);
  });
}

bool HasQuantisers(const OnnxModel& model) {
  const auto quantises = [](const OnnxGraph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const OnnxNode& node) { return IsQuantiser(node.op_type); });
  };
  const auto& bodies = model.contents().subgraphs;
  return quantises(model.graph()) || std::any_of(bodies.begin(), bodies.end(), quantises);
}

ErrorPrediction PredictFromDType(DType dtype, RunnerArithmetic first, RunnerArithmetic second) {
  constexpr double kLayers = 50;
  constexpr double kLength = 4096;
  ErrorPrediction error;
  if (!IsFloat(dtype)) return error;
  const SideRoundoff sides[2] = {RoundoffOf(dtype, first), RoundoffOf(dtype, second)};
  const OwnVariance own = OwnVarianceOf(sides, kLength, 1);
  AddTo(error, {kLayers * own.bound, kLayers * own.typical});
  SetRms(error);
  error.coarsest = Coarser(sides[0].kept_in, sides[1].kept_in);
  error.alike = true;  // nothing is known of the weights
  return error;
}

}  // namespace vernier
