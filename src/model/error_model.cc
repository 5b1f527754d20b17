#include "model/error_model.h"

#include "model/error_growth.h"
#include "model/error_propagation.h"
#include "model/onnx_order.h"

namespace vernier {

Result<ErrorPredictions> PredictErrors(const OnnxModel& model, std::span<const InputDims> inputs,
                                       RunnerArithmetic first, RunnerArithmetic second,
                                       std::span<const std::string> outputs, FedInputs fed,
                                       const MeasureError& measure) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  ErrorPropagation propagation(model, inputs, first, second);
  propagation.KeepOutputs(outputs);
  propagation.MeasureWith(measure);
  propagation.Run(order, fed);
  return propagation.Take();
}

ErrorPrediction PredictFromDType(DType dtype, RunnerArithmetic first, RunnerArithmetic second) {
  constexpr double kLayers = 50;
  constexpr double kLength = 4096;
  ErrorPrediction error;
  if (!IsFloat(dtype)) return error;
  const SideRoundoff sides[2] = {RoundoffOf(dtype, first), RoundoffOf(dtype, second)};
  const OwnVariance own = OwnVarianceOf(sides, kLength, 1);
  AddTo(error, {kLayers * own.bar, kLayers * own.typical});
  SetRms(error);
  error.coarsest = Coarser(sides[0].kept_in, sides[1].kept_in);
  return error;
}

}  // namespace vernier
