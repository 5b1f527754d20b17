// The bars between the two sides of a search.
#pragma once

#include <cstddef>

#include "run/live_runner.h"
#include "run/pair_bars.h"

namespace vernier {

/// Streams of the bars.
inline constexpr size_t kReferenceStream = 0;
inline constexpr size_t kCandidateStream = 1;

/// How the sides compute. The runners outlive the bars.
struct SideRunners {
  const LiveRunner* reference = nullptr;  ///< null: saved
  const LiveRunner* candidate = nullptr;
  bool quantises_alone = false;  ///< the candidate has quantisers, and the reference none
};

PairBars MakeSideBars(const CompareOptions& options, const SideRunners& runners);

}  // namespace vernier
