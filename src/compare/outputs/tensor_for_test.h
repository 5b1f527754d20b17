// Tensors from lists, for the tests of this folder.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

template <typename T>
Tensor TensorForTest(DType dtype, Dims dims, const std::vector<T>& values) {
  return *Tensor::Copy(dtype, std::move(dims), std::as_bytes(std::span(values)));
}

inline Tensor Floats(const std::vector<float>& values) {
  return TensorForTest(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
}
inline Tensor Floats(Dims dims, const std::vector<float>& values) {
  return TensorForTest(DType::kFloat32, std::move(dims), values);
}
inline Tensor Ints(Dims dims, const std::vector<int64_t>& values) {
  return TensorForTest(DType::kInt64, std::move(dims), values);
}
inline Tensor Strings(const std::vector<std::string>& values) {
  return *Tensor::FromStrings({static_cast<int64_t>(values.size())}, values);
}

}  // namespace vernier
