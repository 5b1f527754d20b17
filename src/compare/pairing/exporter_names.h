// The names of tensors without what exporters add to them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vernier {

/// Two tensors of one network in two formats usually have the same plain name: without the number
/// of an output (":0"), what TensorFlow Lite merged into the operator (behind ";"), slashes at the
/// front, the scopes of calls and of the whole model ("StatefulPartitionedCall", "model_1",
/// "functional", "sequential"), and the operator that PyTorch's exporter appends to the path of a
/// module ("/layer1/layer1.0/conv1/Conv_output_0" is "layer1.0.conv1"). Never empty where `name` is
/// not.
std::string PlainTensorName(std::string_view name);

/// PlainTensorName, and those of what was merged into the operator, each once. A name says only
/// that the tensor is one of them: where tf2onnx takes a Relu out of TensorFlow Lite's convolution
/// again, the tensor before it keeps the names of both.
std::vector<std::string> PlainTensorNames(std::string_view name);

}  // namespace vernier
