#include "surgeon/precision_search.h"

#include <algorithm>
#include <unordered_map>

namespace vernier {
namespace {

using Units = std::vector<NodeSet>;  // what stays or goes as a whole

class PrecisionSearch {
 public:
  PrecisionSearch(const PrecisionPlan& plan, const FirstOfSets& first)
      : plan_(plan), asked_(first) {
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
  NodeSet Together(std::span<const NodeSet> units, std::span<const NodeSet> more = {}) const {
    NodeSet nodes;
    for (const auto& part : {units, more}) {
      for (const NodeSet& unit : part) nodes.insert(nodes.end(), unit.begin(), unit.end());
    }
    std::sort(nodes.begin(), nodes.end(),
              [&](uint32_t a, uint32_t b) { return rank_.at(a) < rank_.at(b); });
    return nodes;
  }

  Result<bool> Passes(const NodeSet& nodes) {
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, asked_.First({&nodes, 1}));
    return found.has_value();
  }

  // Fewer of the units, all of which together pass. The shortest beginning that is enough ends with
  // a unit that is needed: it stays, and what is needed beside it comes before it.
  Result<Units> Smallest(Units rest) {
    Units kept;
    while (true) {
      VERNIER_ASSIGN_OR_RETURN(const bool enough, Passes(Together(kept)));
      if (enough) break;
      VERNIER_ASSIGN_OR_RETURN(const size_t length, ShortestBeginning(rest, kept));
      kept.push_back(std::move(rest[length - 1]));
      rest.resize(length - 1);
    }
    VERNIER_TRY(DropNeedless(kept));
    return kept;
  }

  // The least n for which the first n units pass with those that are kept. All of them do, none do
  // not. Most beginnings are short, hence the doubling.
  Result<size_t> ShortestBeginning(const Units& units, const Units& kept) {
    std::vector<size_t> lengths;
    for (size_t length = 1; length < units.size(); length *= 2) lengths.push_back(length);
    size_t fails = 0, passes = units.size();
    VERNIER_TRY(Narrow(lengths, units, kept, fails, passes));
    while (passes - fails > 1) {
      const size_t gap = passes - fails, count = std::min(plan_.width, gap - 1);
      lengths.clear();
      for (size_t i = 1; i <= count; ++i) lengths.push_back(fails + gap * i / (count + 1));
      VERNIER_TRY(Narrow(lengths, units, kept, fails, passes));
    }
    return passes;
  }

  // `lengths` rise, and lie between those of a beginning that fails and one that passes.
  Status Narrow(std::span<const size_t> lengths, const Units& units, const Units& kept,
                size_t& fails, size_t& passes) {
    if (lengths.empty()) return {};
    std::vector<NodeSet> beginnings;
    for (const size_t length : lengths) {
      beginnings.push_back(Together(std::span(units).first(length), kept));
    }
    VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, asked_.First(beginnings));
    if (found) passes = lengths[*found];
    if (const size_t failed = found.value_or(lengths.size()); failed > 0) {
      fails = lengths[failed - 1];
    }
    return {};
  }

  // A check need not be monotonous: one unit may serve in place of another that was found first.
  Status DropNeedless(Units& kept) {
    while (kept.size() > 1) {
      std::vector<NodeSet> without;
      for (size_t i = 0; i < kept.size(); ++i) {
        const std::span all(kept);
        without.push_back(Together(all.first(i), all.subspan(i + 1)));
      }
      VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> needless, asked_.First(without));
      if (!needless) break;
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(*needless));
    }
    return {};
  }

  const PrecisionPlan& plan_;
  AskedSets asked_;
  std::unordered_map<uint32_t, uint32_t> rank_;
};

}  // namespace

Result<std::optional<NodeSet>> FindKeptNodes(const PrecisionPlan& plan, const FirstOfSets& first) {
  return PrecisionSearch(plan, first).Find();
}

}  // namespace vernier
