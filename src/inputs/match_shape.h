// Polygraphy's attempt to make an array fit a shape.
#pragma once

#include <span>

#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Transposes or reshapes `tensor` toward `shape` by the steps of core/shape_match.h and with
/// Polygraphy's log lines. Before that, one dynamic dimension is computed from the number of
/// elements; several are taken from the tensor if the ranks agree. The result may still not fit;
/// the caller checks. kInternal when memory runs out.
Result<Tensor> MatchShape(const Tensor& tensor, std::span<const Dim> shape, Logger& logger);

/// Whether `dims` has the rank of `shape` and its fixed dimensions.
bool FitsShape(std::span<const int64_t> dims, std::span<const Dim> shape);

}  // namespace vernier
