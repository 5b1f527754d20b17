// Whether the values that a model's file holds itself are as many as their shapes say.
#pragma once

#include "model/onnx/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

/// Checks initializers and tensors in attributes, those of bodies and functions included: raw
/// values by their size, lists of numbers by reading them. kMalformed, one sentence that names file
/// and tensor, for negative dimensions, for more elements than can be, and for fewer or more bytes
/// than type and shape need. Tensors without any value (weight-strip leaves such), external ones,
/// split ones, and types that vernier does not know pass.
Status CheckEmbeddedValues(const OnnxModel& model);

}  // namespace vernier
