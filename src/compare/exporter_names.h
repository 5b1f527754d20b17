// The names of tensors without what exporters add to them.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// Two tensors of one network in two formats usually have the same plain name: without the number
/// of an output (":0"), what TensorFlow Lite merged into the operator (behind ";"), slashes at the
/// front, the scopes of calls and of the whole model ("StatefulPartitionedCall", "model_1",
/// "functional", "sequential"), and the operator that PyTorch's exporter appends to the path of a
/// module ("/layer1/layer1.0/conv1/Conv_output_0" is "layer1.0.conv1"). Never empty where `name` is
/// not.
std::string PlainTensorName(std::string_view name);

}  // namespace vernier
