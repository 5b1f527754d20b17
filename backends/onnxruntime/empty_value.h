// Empty sequences, which ONNX Runtime's C interface cannot make.
#pragma once

#include "ort_api.h"
#include "ort_value.h"

namespace vernier::ort {

/// A sequence without elements, of tensors of that type: the output of a model with one node.
/// kUnimplemented for an undefined type.
Result<Value> MakeEmptySequence(const Api& api, ONNXTensorElementDataType element);

}  // namespace vernier::ort
