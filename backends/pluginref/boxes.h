// Boxes of object detection, and the best of them that do not overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace vernier::pluginref {

/// Two opposite corners.
struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;

  /// The same box with x1 <= x2 and y1 <= y2.
  Box Ordered() const {
    return {std::min(x1, x2), std::min(y1, y2), std::max(x1, x2), std::max(y1, y2)};
  }
};

struct Candidate {
  double score = 0;
  int64_t label = 0;
  size_t place = 0;  ///< of its box; among equal scores the first wins
  Box box;
};

/// The best first; equal ones stay in their order.
inline void SortByScore(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
}

/// Keeps each candidate that no better, kept one suppresses. `candidates` are sorted.
inline std::vector<Candidate> Suppress(
    const std::vector<Candidate>& candidates,
    const std::function<bool(const Candidate& kept, const Candidate& other)>& suppresses) {
  std::vector<Candidate> kept;
  for (const Candidate& candidate : candidates) {
    const bool lost = std::any_of(kept.begin(), kept.end(), [&](const Candidate& better) {
      return suppresses(better, candidate);
    });
    if (!lost) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace vernier::pluginref
