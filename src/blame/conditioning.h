// How far the rounding of its inputs alone moves what a node computes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "blame/island_bench.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The condition numbers of the islands `which` of a bench on the tensors of `source`: by how many
/// roundoffs of their inputs' type outputs move, relative to their scale, when each float of the
/// inputs moves by one step (Higham, Accuracy and Stability of Numerical Algorithms, section 1.6).
/// 1 where that is no more than a few, where an island has no float input, and where it cannot be
/// measured. `as_fed` tells the types that the islands are fed with. kCancelled.
Result<std::vector<double>> MeasureConditions(IslandBench& bench, std::span<const size_t> which,
                                              const TensorSource& source,
                                              const TensorLookup& as_fed);

}  // namespace vernier
