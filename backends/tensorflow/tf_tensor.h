// Tensors of the host to TensorFlow's and back, without copies where the memory allows it.
#pragma once

#include <memory>
#include <string>

#include "tf_api.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::tf {

using TensorHandle = Handle<TF_Tensor>;

/// Borrows the host's memory until the handle goes; strings are copied. kInvalidArgument for a type
/// that TensorFlow does not have.
Result<TensorHandle> ToTensor(const Api& api, const vn_tensor& tensor);

/// An output that keeps TensorFlow's tensor alive; strings are copied.
sdk::OutputTensor FromTensor(const Api& api, std::string name, TensorHandle tensor);

/// An output with bytes of its own, of what the host has handed in.
sdk::OutputTensor CopyOf(const vn_tensor& tensor, std::string name);

/// Puts the bytes of an output that lie in the host's memory, which it lends for one run,
/// elsewhere.
void DetachFrom(const vn_tensor& input, sdk::OutputTensor& output);

}  // namespace vernier::tf
