// The float types that a model keeps its weights in.
#pragma once

#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// Of the main graph's initializers, or, where none of them is a float, of what its `Constant`
/// nodes hold: some exporters keep all weights there. One entry for each weight, in the file's
/// order; empty for a model without float weights.
std::vector<DType> FloatWeightTypes(const OnnxModel& model);

}  // namespace vernier
