// From wire format to OnnxContents. Only onnx_model.cc and onnx_edit.cc use it.
#pragma once

#include "model/onnx/onnx_model.h"
#include "model/onnx/wire_reader.h"

namespace vernier {

/// Reads a ModelProto. Faults are left in the reader's source.
OnnxContents ParseOnnxModel(WireReader reader);

/// Reads a TensorProto into `tensor`, adding to what an earlier part gave.
void ParseOnnxTensor(WireReader reader, OnnxTensor& tensor);

/// Reads a NodeProto's attributes; they were checked when the model was opened.
std::vector<OnnxAttribute> ParseOnnxAttributes(std::string_view node_bytes);

}  // namespace vernier
