// Top-K: an output replaced by the indices of its largest values.
#pragma once

#include <string_view>

#include "vernier/per_output.h"
#include "vernier/tensor.h"

namespace vernier {

/// "top-5", "top-5,axis=0", and the sloppy spellings that Polygraphy accepts ("top--3", "top-5,1").
/// kInvalidArgument otherwise.
Result<TopK> ParseTopK(std::string_view text);

/// int64 indices of the k largest values along the axis (k is clamped to its length), largest
/// first, equal values by ascending index, NaN last. Unlike Polygraphy, which negates the array,
/// unsigned types, the smallest signed value and bool are ordered by value. kInvalidArgument for
/// strings, complex numbers, scalars and an axis out of range.
Result<Tensor> ApplyTopK(const Tensor& tensor, const TopK& top);

/// Replaces the outputs that `tops` names, or all if it has a fallback. Unknown names are ignored.
/// On error, which names the output, the outputs before it have been replaced.
Status PostprocessTopK(TensorMap& outputs, const PerOutput<TopK>& tops);

}  // namespace vernier
