// Empty sequences and absent optionals, which ONNX Runtime's C interface cannot make.
#pragma once

#include <string>

#include "ort_api.h"
#include "ort_value.h"

namespace vernier::ort {

/// ONNX's TypeProto of a tensor, a sequence or an optional; empty for types with others inside.
Result<std::string> TypeBytes(const Api& api, const OrtTypeInfo* type);

/// That of the sequence in an optional; any other is as it was.
std::string SequenceType(const std::string& type);

/// The output of a model with one node. `type` is that of the sequence or optional, from
/// TypeBytes; kUnimplemented if it is empty.
Result<Value> MakeEmpty(const Api& api, const std::string& type);

}  // namespace vernier::ort
