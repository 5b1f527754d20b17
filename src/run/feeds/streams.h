// Streams of iterations: the sides of a run, live or saved, as they are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// One iteration's outputs, stream by stream; absent where a runner has failed.
using IterationOutputs = std::vector<std::optional<IterationResult>>;

/// MarkFeed() of what an iteration was made from, stream by stream, where that is known. Empty: of
/// no stream.
using FeedMarks = std::vector<std::optional<uint64_t>>;

/// The iterations of a stream.
struct StreamLength {
  int64_t made = 0;
  std::optional<int64_t> asked;  ///< how many there should be; nullopt: not known
  int64_t begun = 0;             ///< there should be as many at least; more of them may be unknown
  bool failed = false;           ///< a runner ended with an error
};

}  // namespace vernier
