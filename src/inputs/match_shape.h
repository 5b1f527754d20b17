// The peer's attempt to make an array fit a shape.
#pragma once

#include <span>

#include "util/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Transposes or reshapes `tensor` toward `shape` in the peer's steps and with its log lines:
/// 1. One dynamic dimension is computed from the number of elements; several are taken from the
///    tensor if the ranks agree.
/// 2. Another rank: a reshape in row-major order.
/// 3. The same lengths in another order: a transposition; each dimension takes the first unused
///    axis of its length.
/// 4. A reshape.
/// A step that is impossible is skipped, so the result may still not fit; the caller checks.
/// kInternal when memory cannot be had.
Result<Tensor> MatchShape(const Tensor& tensor, std::span<const Dim> shape, Logger& logger);

/// Whether `dims` has the rank of `shape` and its fixed dimensions.
bool FitsShape(std::span<const int64_t> dims, std::span<const Dim> shape);

/// The tensor with its axes in the order of `permutation`, which must be one of 0..rank-1.
Result<Tensor> Transpose(const Tensor& tensor, std::span<const size_t> permutation);

}  // namespace vernier
