#include "decide/worst_iterations.h"

#include <algorithm>

namespace vernier {
namespace {

// Clear flips, or near ties.
void AddIterations(std::span<const DecisionRecord> decisions, bool near_ties, size_t most,
                   std::vector<int64_t>& iterations) {
  bool any = true;
  for (size_t place = 0; any; ++place) {
    any = false;
    for (const DecisionRecord& decision : decisions) {
      if (place >= decision.worst.size()) continue;
      any = true;
      const WorstFlip& flip = decision.worst[place];
      if ((flip.sample.flip == Flip::kNearTie) != near_ties || iterations.size() == most) continue;
      if (std::ranges::find(iterations, flip.iteration) != iterations.end()) continue;
      iterations.push_back(flip.iteration);
    }
  }
}

}  // namespace

std::vector<int64_t> WorstIterationsOf(std::span<const DecisionRecord> decisions, size_t most) {
  std::vector<int64_t> iterations;
  AddIterations(decisions, false, most, iterations);
  AddIterations(decisions, true, most, iterations);
  return iterations;
}

}  // namespace vernier
