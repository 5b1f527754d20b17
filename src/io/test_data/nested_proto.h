// Files of ONNX's test data: tensors, and sequences and optionals of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The tensor of a TensorProto, or the parts (part_names.h) of a SequenceProto or OptionalProto,
/// called as the file says, or `fallback` if it does not. A sequence of one tensor and an optional
/// with one look the same, and are read as a sequence; a sequence of one sequence is read as an
/// optional. Errors as ParseTensorProto; kMalformed for maps and sparse tensors.
Result<TensorMap> ParseTestData(std::span<const std::byte> bytes, const std::string& fallback);

}  // namespace vernier
