#include "decide/gates/worst_iterations.h"

#include <algorithm>

#include "decide/gates/decision_fold.h"

namespace vernier {
namespace {

// Flips of one kind. What is NaN on both sides came with its input: no layer is found with it.
void AddIterations(std::span<const DecisionRecord> decisions, Flip kind, size_t most,
                   std::vector<int64_t>& iterations) {
  bool any = true;
  for (size_t place = 0; any; ++place) {
    any = false;
    for (const DecisionRecord& decision : decisions) {
      if (place >= decision.worst.size()) continue;
      any = true;
      const WorstFlip& flip = decision.worst[place];
      if (flip.sample.flip != kind || iterations.size() == most) continue;
      if (IsInvalidOnBothSides(flip.sample)) continue;
      if (std::ranges::find(iterations, flip.iteration) != iterations.end()) continue;
      iterations.push_back(flip.iteration);
    }
  }
}

}  // namespace

std::vector<int64_t> WorstIterationsOf(std::span<const DecisionRecord> decisions, size_t most) {
  std::vector<int64_t> iterations;
  for (const Flip kind : {Flip::kClear, Flip::kInvalid, Flip::kNearTie}) {
    AddIterations(decisions, kind, most, iterations);
  }
  return iterations;
}

}  // namespace vernier
