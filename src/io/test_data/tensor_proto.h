// Tensors in ONNX's own format, TensorProto, as ONNX's test data folders hold them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/bytes/byte_sink.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A tensor and its name, which may be empty. Reads raw data and the typed fields. kMalformed for
/// damaged files, sizes that do not fit the shape, data outside of the file, and unknown types.
Result<NamedTensor> ParseTensorProto(std::span<const std::byte> bytes);

/// Writes a tensor with its name, its elements as raw data. kIo from the sink; kInvalidArgument for
/// 2 GiB and more, which no reader of protobuf takes.
Status WriteTensorProto(const NamedTensor& tensor, ByteSink& sink);

}  // namespace vernier
