#include "run/saved/self_comparisons.h"

#include <algorithm>
#include <string>

namespace vernier {

void NoteSelfComparisons(const SavedStreams& loaded,
                         const std::vector<std::pair<size_t, size_t>>& pairs, bool strict,
                         RunOutcome& outcome) {
  NoteSelfComparisons(loaded.SelfComparisons(pairs), strict, outcome);
}

void NoteSelfComparisons(const std::vector<std::pair<size_t, std::string>>& found, bool strict,
                         RunOutcome& outcome) {
  for (const auto& [place, path] : found) {
    PairRecord& pair = outcome.record.pairs.at(place);
    pair.itself = true;
    const bool strange = std::ranges::any_of(pair.outputs, [](const OutputRecord& output) {
      return !output.agrees() && output.not_finite > 0;
    });
    outcome.record.notes.push_back(
        "'" + path + "' was compared with itself: " +
        (strange ? "what does not match is NaN or infinite, which equals nothing"
                 : "that it agrees shows nothing"));
    if (strict) outcome.faults.mismatch = true;
  }
}

void RejectVacuous(RunOutcome& outcome) {
  for (PairRecord& pair : outcome.record.pairs) {
    pair.rejected =
        pair.itself || std::ranges::any_of(pair.outputs, [](const OutputRecord& output) {
          return !output.vacuous.empty();
        });
    if (pair.rejected) outcome.faults.mismatch = true;
  }
}

}  // namespace vernier
