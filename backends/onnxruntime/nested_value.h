// Sequences, maps and optionals of ONNX Runtime, as parts (vn_backend_api::part_at) and back.
#pragma once

#include <string>
#include <vector>

#include "ort_api.h"
#include "ort_value.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::ort {

/// What an output or input of that type is instead of a tensor; empty for tensors.
std::string WordFor(ONNXType type);

/// An output of any type. Of an optional, whether it is there is a part. Numbers are not copied;
/// `value`, which may be null, moves into it.
Result<sdk::OutputTensor> ToOutput(const Api& api, const std::string& name, Value value,
                                   bool is_optional);

}  // namespace vernier::ort
