// The bounds between the two sides of a search.
#pragma once

#include <cstddef>

#include "run/live/pair_error_bounds.h"
#include "run/workers/runner_session.h"

namespace vernier {

struct CompareOptions;

/// Streams of the bounds.
inline constexpr size_t kReferenceStream = 0;
inline constexpr size_t kCandidateStream = 1;

/// How the sides compute. The runners outlive the bounds.
struct SideRunners {
  const RunnerSession* reference = nullptr;  ///< null: saved
  const RunnerSession* candidate = nullptr;
  bool quantises_alone = false;  ///< the candidate has quantisers, and the reference none
};

PairErrorBounds MakeSideBounds(const CompareOptions& options, const SideRunners& runners);

}  // namespace vernier
