// The conformance checks' models as TorchScript files.
#pragma once

#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// Bytes of a TorchScript archive whose `forward` takes tensors of these names and returns them,
/// alone or as a tuple. Types and shapes have no place in such a file.
std::string WriteTorchScriptModel(const std::vector<TensorInfo>& inputs);

}  // namespace vernier
