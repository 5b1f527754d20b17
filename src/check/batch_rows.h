// Rows of a batch: the slices of tensors along their first dimension.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// `tensor` with the given rows, in this order; rows may repeat. kInvalidArgument for tensors
/// without a first dimension, rows that are not there, strings and types below a byte.
Result<Tensor> TakeRows(const Tensor& tensor, std::span<const int64_t> rows);

/// The same for the named tensors; the others are passed on.
Result<TensorMap> TakeRows(const TensorMap& tensors, std::span<const std::string> names,
                           std::span<const int64_t> rows);

/// Which inputs and outputs have rows that belong together.
struct BatchNames {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  ///< empty: not told before the first run
  std::string dimension;             ///< its symbol in the model; empty: it has none
};

/// Those whose first dimension is dynamic; outputs also where their rank is not told. nullopt when
/// no input has one, no output has one, or inputs name theirs differently, so that they need not be
/// of one size.
std::optional<BatchNames> FindBatch(std::span<const TensorInfo> inputs,
                                    std::span<const TensorInfo> outputs);

}  // namespace vernier
