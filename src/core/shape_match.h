// Bringing a tensor to another shape by Polygraphy's rules: for outputs under --no-shape-check, and
// for inputs that do not fit the model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// One thing that was done, or could not be, on the way to the wanted shape.
struct ShapeStep {
  enum class Kind : uint8_t { kPermuted, kReshaped, kNotPermutable, kNotReshapable };
  Kind kind = Kind::kReshaped;
  Dims from;
  Dims to;
  std::vector<size_t> permutation;  ///< kPermuted only: for each axis of `to`, its axis in `from`
};

struct ShapeMatch {
  Tensor tensor;  ///< unchanged where no step succeeded
  std::vector<ShapeStep> steps;
};

/// In this order, a step that is impossible being skipped:
/// 1. another rank: a reshape in row-major order;
/// 2. the same lengths in another order: a transposition, even where a reshape was meant; each
///    wanted length takes the first unused axis of that length;
/// 3. a reshape.
/// So the result may still have another shape. A negative length in `wanted` fits nothing.
/// kInternal when memory runs out.
Result<ShapeMatch> MatchShape(const Tensor& tensor, const Dims& wanted);

/// What MatchShape would change in a tensor of shape `from`, without one. Nothing when the shapes
/// are equal or it could not reach `wanted`.
std::optional<ShapeStep> PlanShapeMatch(const Dims& from, const Dims& wanted);

/// The lengths that are not 1, in their order.
Dims WithoutUnitAxes(const Dims& dims);

/// The tensor with its axes in the order of `permutation`, which must be one of 0..rank-1.
Result<Tensor> Transpose(const Tensor& tensor, std::span<const size_t> permutation);

}  // namespace vernier
