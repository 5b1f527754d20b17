// Measures of arrays of codes of at most eight bits that lie where this process cannot read them,
// as on a GPU: all that has to be done there is to count pairs and to find the first of some.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/measures/pair_measures.h"
#include "vernier/status.h"

namespace vernier {

/// Two arrays of the same number of elements, each with a code: its bits.
class CodeArrays {
 public:
  virtual ~CodeArrays() = default;

  /// How many elements have each pair of codes; the index is (code in A) << 8 | code in B.
  virtual Result<std::vector<int64_t>> CountPairs() = 0;

  /// For each bit of `wanted` the first place of an element whose pair has that bit among its
  /// flags; -1 for bits that are not wanted or not found. `flags` has a word for each pair.
  virtual Result<std::array<int64_t, 32>> FindFirst(std::span<const uint32_t> flags,
                                                    uint32_t wanted) = 0;
};

/// As MeasurePair, the same bits. kUnimplemented for types or requests that it cannot serve:
/// types of more than eight bits, distances in ULPs, worst elements, and products of small floats
/// whose equal infinities match. Other errors are those of `arrays`.
Result<PairMeasures> MeasureCodeArrays(CodeArrays& arrays, DType a, DType b, int64_t count,
                                       const MeasureRequest& request);

}  // namespace vernier
