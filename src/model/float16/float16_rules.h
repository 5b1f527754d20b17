// Which nodes stay in float32 when a model becomes float16.
#pragma once

#include <cstddef>

#include "model/float16/float16_functions.h"
#include "model/onnx/onnx_model.h"
#include "model/shapes/onnx_infer.h"

namespace vernier {

/// Does the node compute in float32 in a float16 model? `types` are those of its graph before the
/// conversion.
bool StaysFloat32(const OnnxModel& model, const Float16Functions& functions, const OnnxGraph& graph,
                  const OnnxNode& node, const ValueTypes& types);

/// An operator of another domain that is not defined for float16.
bool IsFloat32Only(const OnnxNode& node);

/// Is this output of a node that is converted float32 all the same?
bool OutputStaysFloat32(const OnnxNode& node, size_t output);

}  // namespace vernier
