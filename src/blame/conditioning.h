// How far the rounding of its inputs alone moves what a node computes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "blame/island_bench.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The floats moved to one of their two neighbours, at random but always the same. Zeros,
/// infinities and NaN stay, as do elements of types other than float16, bfloat16, float32 and
/// float64. kInternal when memory cannot be had.
Result<Tensor> NudgeFloats(const Tensor& tensor);

/// Of the coarsest of the tensors that can be nudged; 0 when there is none.
double CoarsestRoundoff(const TensorMap& tensors);

/// The condition numbers of the islands `which` of a bench on the tensors of `source`: by how many
/// roundoffs of their inputs' type outputs move, relative to their scale, when each float of the
/// inputs moves by one step (Higham, Accuracy and Stability of Numerical Algorithms, section 1.6).
/// 1 where that is no more than a few, where an island has no float input, and where it cannot be
/// measured. `as_fed` tells the types that the islands are fed with. kCancelled.
Result<std::vector<double>> MeasureConditions(IslandBench& bench, std::span<const size_t> which,
                                              const TensorSource& source,
                                              const TensorLookup& as_fed);

}  // namespace vernier
