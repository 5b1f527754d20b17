#include "surgeon/precision_search.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace vernier {
namespace {

using Units = std::vector<NodeSet>;  // what stays or goes as a whole

class PrecisionSearch {
 public:
  PrecisionSearch(const PrecisionPlan& plan, const FirstPassing& first)
      : plan_(plan), first_(first) {
    for (uint32_t i = 0; i < plan.ranked.size(); ++i) rank_[plan.ranked[i]] = i;
  }

  Result<std::optional<NodeSet>> Find() {
    VERNIER_ASSIGN_OR_RETURN(const bool nothing, Passes({}));
    if (nothing) return std::optional(NodeSet());
    VERNIER_ASSIGN_OR_RETURN(const bool everything, Passes(plan_.ranked));
    if (!everything) return std::optional<NodeSet>();
    NodeSet nodes = plan_.ranked;
    if (!plan_.groups.empty()) {
      VERNIER_ASSIGN_OR_RETURN(const Units groups, Smallest(plan_.groups));
      nodes = Together(groups);
    }
    Units single;
    for (const uint32_t node : nodes) single.push_back({node});
    VERNIER_ASSIGN_OR_RETURN(const Units left, Smallest(std::move(single)));
    return std::optional(Together(left));
  }

 private:
  NodeSet Together(std::span<const NodeSet> units) const {
    NodeSet nodes;
    for (const NodeSet& unit : units) nodes.insert(nodes.end(), unit.begin(), unit.end());
    std::sort(nodes.begin(), nodes.end(),
              [&](uint32_t a, uint32_t b) { return rank_.at(a) < rank_.at(b); });
    return nodes;
  }

  Result<bool> Passes(const NodeSet& nodes) {
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, First({&nodes, 1}));
    return found.has_value();
  }

  // The first of these sets that passes.
  Result<std::optional<size_t>> First(std::span<const NodeSet> sets) {
    std::vector<NodeSet> asked;
    std::vector<size_t> places;
    std::optional<size_t> answer;
    for (size_t i = 0; i < sets.size() && !answer; ++i) {
      const auto known = known_.find(sets[i]);
      if (known == known_.end()) {
        asked.push_back(sets[i]);
        places.push_back(i);
      } else if (known->second) {
        answer = i;
      }
    }
    if (asked.empty()) return answer;
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, first_(asked));
    for (size_t i = 0; i < found.value_or(asked.size()); ++i) known_[asked[i]] = false;
    if (!found) return answer;
    known_[asked[*found]] = true;
    return std::optional(places[*found]);
  }

  // Fewer of the units, all of which together pass: the most suspicious ones that are enough, and
  // of those as few as can be.
  Result<Units> Smallest(Units units) {
    std::vector<NodeSet> beginnings;
    std::vector<size_t> lengths;
    for (size_t length = 1; length < units.size(); length *= 2) {
      beginnings.push_back(Together(std::span(units).first(length)));
      lengths.push_back(length);
    }
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> enough, First(beginnings));
    if (enough) units.resize(lengths[*enough]);
    for (size_t chunks = 2; units.size() > 1;) {
      chunks = std::min(chunks, units.size());
      VERNIER_ASSIGN_OR_RETURN(const bool fewer, Shrink(units, chunks));
      if (fewer) continue;
      if (chunks == units.size()) break;
      chunks *= 2;
    }
    return units;
  }

  // Keeps one chunk alone, or leaves one out; then `chunks` says how many there are to try next.
  Result<bool> Shrink(Units& units, size_t& chunks) {
    std::vector<Units> alone, without;
    for (size_t i = 0; i < chunks; ++i) {
      const auto begin = units.begin() + static_cast<std::ptrdiff_t>(units.size() * i / chunks);
      const auto end = units.begin() + static_cast<std::ptrdiff_t>(units.size() * (i + 1) / chunks);
      alone.emplace_back(begin, end);
      Units& rest = without.emplace_back(units.begin(), begin);
      rest.insert(rest.end(), end, units.end());
    }
    // The least suspicious goes first. Of two chunks one without the other is that one alone.
    std::reverse(without.begin(), without.end());
    if (chunks == units.size() && chunks > 2) alone.clear();  // as the beginnings, mostly in vain
    for (const auto* choices : {&alone, &without}) {
      std::vector<NodeSet> sets;
      for (const Units& choice : *choices) sets.push_back(Together(choice));
      VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, First(sets));
      if (!found) continue;
      units = (*choices)[*found];
      chunks = choices == &alone ? 2 : std::max<size_t>(chunks - 1, 2);
      return true;
    }
    return false;
  }

  const PrecisionPlan& plan_;
  const FirstPassing& first_;
  std::unordered_map<uint32_t, uint32_t> rank_;
  std::map<NodeSet, bool> known_;  // sets in the order of the ranks
};

}  // namespace

Result<std::optional<NodeSet>> FindKeptNodes(const PrecisionPlan& plan, const FirstPassing& first) {
  return PrecisionSearch(plan, first).Find();
}

}  // namespace vernier
