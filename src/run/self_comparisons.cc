#include "run/self_comparisons.h"

#include <algorithm>

namespace vernier {

SelfComparisons::SelfComparisons(const LoadedSide& loaded,
                                 const std::vector<std::pair<size_t, size_t>>& pairs) {
  for (const auto& [a, b] : loaded.SelfComparisons(pairs)) {
    names_.emplace_back(loaded.runs()[a].name, loaded.runs()[b].name);
    paths_.push_back(loaded.runs()[a].path);
  }
}

void SelfComparisons::Note(bool strict, RunOutcome& outcome) const {
  for (const std::string& path : paths_) {
    outcome.record.notes.push_back("'" + path +
                                   "' was compared with itself: that it agrees shows nothing");
    if (strict) outcome.faults.mismatch = true;
  }
}

void SelfComparisons::RejectVacuous(std::vector<PairRecord>& pairs) const {
  for (PairRecord& pair : pairs) {
    const bool self = std::ranges::find(names_, std::pair(pair.first, pair.second)) != names_.end();
    pair.rejected = self || std::ranges::any_of(pair.outputs, [](const OutputRecord& output) {
                      return !output.vacuous.empty();
                    });
  }
}

}  // namespace vernier
