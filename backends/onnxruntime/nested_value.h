// Sequences, maps and optionals of ONNX Runtime, as parts (vn_backend_api::part_at) and back.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ort_api.h"
#include "ort_value.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ort {

/// What an output or input of that type is instead of a tensor; empty for tensors.
std::string WordFor(ONNXType type);

/// Of an input that is no tensor.
struct NestedInput {
  std::string name;
  bool has_text_keys = false;  ///< of its maps: strings, not int64
  bool holds_tensor = false;   ///< an optional tensor
  /// Of the tensors of a sequence, itself or what an optional holds; else undefined.
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
};

/// How inputs of that type are made; `type` is that of a sequence, map or optional.
Result<NestedInput> ReadNestedInput(const Api& api, std::string name, const OrtTypeInfo* type);

/// The value that `inputs` hold in parts, which must outlive it. kInvalidArgument for parts that
/// are missing or do not go together, kUnimplemented for an optional that is absent.
Result<Value> Assemble(const Api& api, const NestedInput& input,
                       std::span<const vn_tensor* const> inputs);

/// An output of any type. Of an optional, whether it is there is a part. Numbers are not copied;
/// `value`, which may be null, moves into it.
Result<sdk::OutputTensor> ToOutput(const Api& api, const std::string& name, Value value,
                                   bool is_optional);

}  // namespace vernier::ort
