// Places that faultless runtimes may choose differently: where the values of TopK, ArgMax and
// ArgMin are as good as equal, an error of rounding decides, and among equal ones the runtime.
#pragma once

#include <string_view>

#include "model/onnx/onnx_model.h"
#include "vernier/tensor.h"

namespace vernier {

/// Is this output of the operator one of places, chosen by values?
bool IsChoice(std::string_view op_type, size_t output);

/// The share of the places that the node chooses from `values` which are near a tie: whose value is
/// within twice `error` of the one before or behind it in order. `error` is relative to the larger
/// one of the tensor's root mean square and the value itself; with 0 only equal values tie. Finite
/// masks do not make the root mean square: it is at most 100 times that of the best values.
/// `places` is how many there are in all. 0 for values that are no floats, or of no shape that the
/// node takes.
double NearTies(const OnnxModel& model, const OnnxNode& node, const Tensor& values, int64_t places,
                double error);

}  // namespace vernier
