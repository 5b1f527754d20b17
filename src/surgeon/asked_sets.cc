#include "surgeon/asked_sets.h"

#include <set>

namespace vernier {

Result<std::optional<size_t>> AskedSets::First(std::span<const NodeSet> sets) {
  std::vector<NodeSet> asked;
  std::set<NodeSet> among_them;
  std::vector<size_t> places;
  std::optional<size_t> answer;
  for (size_t i = 0; i < sets.size() && !answer; ++i) {
    const auto known = answers_.find(sets[i]);
    if (known == answers_.end()) {
      if (!among_them.insert(sets[i]).second) continue;
      asked.push_back(sets[i]);
      places.push_back(i);
    } else if (known->second) {
      answer = i;
    }
  }
  if (asked.empty()) return answer;
  VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, first_(asked));
  for (size_t i = 0; i < found.value_or(asked.size()); ++i) answers_[asked[i]] = false;
  if (!found) return answer;
  answers_[asked[*found]] = true;
  return std::optional(places[*found]);
}

}  // namespace vernier
