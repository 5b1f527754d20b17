// Tensors of the plug-in boundary as PyTorch's, and back.
#pragma once

#include <ATen/Tensor.h>

#include <optional>
#include <string>

#include "vernier/backend_sdk.hpp"

namespace vernier {

/// nullopt for a type that the other side lacks.
std::optional<at::ScalarType> ToTorch(DType dtype);
std::optional<DType> FromTorch(at::ScalarType type);

/// A view of the host's bytes, which must not be written to. kMalformed for a type that PyTorch
/// does not have.
Result<at::Tensor> Borrow(const vn_tensor& tensor);

/// The output with its bytes in host memory, which it owns; `skipped` where PyTorch has something
/// there that is no dense tensor.
sdk::OutputTensor ToOutput(std::string name, const at::Tensor& tensor);

}  // namespace vernier
