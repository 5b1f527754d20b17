// Bringing one output to the shape of another, as --no-shape-check asks.
#pragma once

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

/// The peer's rules: a different rank is reshaped; an equal rank with the same sizes in another
/// order is transposed (for each wanted size the first unused axis of that size), even where a
/// reshape was meant; otherwise reshaped if the volumes agree. kInternal when memory runs out.
Result<ShapeMatch> MatchShape(const Tensor& tensor, const Dims& wanted);

/// The tensor with its axes in the order of `permutation`, which must be one.
Result<Tensor> Transpose(const Tensor& tensor, const std::vector<size_t>& permutation);

}  // namespace vernier
