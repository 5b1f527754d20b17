// The float types that a model keeps its weights in.
#pragma once

#include <vector>

#include "model/onnx/onnx_model.h"

namespace vernier {

/// Of each graph, bodies of `If` and loops included, the initializers, or, where none of them is a
/// float, what its `Constant` nodes hold: some exporters keep all weights there. One entry for each
/// weight, the main graph's first; empty for a model without float weights.
std::vector<DType> FloatWeightTypes(const OnnxModel& model);

}  // namespace vernier
