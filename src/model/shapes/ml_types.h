// Element types of what the operators of ai.onnx.ml give. Internal to model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/shapes/onnx_infer_codes.h"

namespace vernier {

/// TensorProto.DataType; 0 where it is unknown, or the output is no tensor.
int32_t MlTypeOf(const NodeFacts& facts, size_t output);

}  // namespace vernier
