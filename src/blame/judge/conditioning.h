// How far the output of a node moves by rounding its inputs alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "blame/sides/island_bench.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// An island of which an output is over its bound.
struct SuspectIsland {
  size_t island = 0;           ///< its place in the bench
  std::vector<double> errors;  ///< of all its outputs, in order, in multiples of their bounds
};

/// The condition numbers of the outputs of these islands on `feed`: by how many
/// roundoffs of the inputs' type an output moves, relative to its scale, when each float of the
/// inputs moves by one step (Higham, Accuracy and Stability of Numerical Algorithms, section 1.6).
/// An output's number is its own: others of its island may have others. The largest of three draws
/// counts, since few elements may stay where they are by chance; it ends with the first draw that
/// explains all errors that are finite. 1 where that is no more than a few roundoffs, where an
/// island has no float input, where an output moves on the same inputs, too, and where it cannot be
/// measured. kCancelled.
Result<std::vector<std::vector<double>>> MeasureConditions(IslandBench& bench,
                                                           std::span<const SuspectIsland> suspects,
                                                           const IslandFeed& feed);

}  // namespace vernier
