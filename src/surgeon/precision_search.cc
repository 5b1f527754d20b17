#include "surgeon/precision_search.h"

#include <algorithm>
#include <unordered_map>

#include "util/values/plural_text.h"

namespace vernier {
namespace {

using Units = std::vector<NodeSet>;  // what stays or goes as a whole

// Of so few likely nodes each is left out in turn; of more, beginnings are tried first.
constexpr size_t kFew = 8;

class PrecisionSearch {
 public:
  PrecisionSearch(const PrecisionPlan& plan, const FirstOfSets& first)
      : plan_(plan),
        first_(first),
        limited_([this](std::span<const NodeSet> sets) { return Ask(sets); }),
        asked_(limited_) {
    for (uint32_t i = 0; i < plan.ranked.size(); ++i) rank_[plan.ranked[i]] = i;
  }

  Result<std::optional<KeptNodes>> Find() {
    Result<std::optional<NodeSet>> found = FindFewest();
    if (found.ok() && !*found) return std::optional<KeptNodes>();
    if (found.ok()) return std::optional(KeptNodes{**std::move(found), true});
    if (!spent_) return found.status();
    if (best_) return std::optional(KeptNodes{*best_, false});
    return NotFound("no set of nodes passed within " + Counted(count_, "check"));
  }

 private:
  Result<std::optional<NodeSet>> FindFewest() {
    NodeSet nodes = plan_.ranked;
    const bool guessed = !plan_.likely.empty() && plan_.likely.size() < nodes.size();
    if (!guessed || !plan_.certain) {
      VERNIER_ASSIGN_OR_RETURN(const bool nothing, Passes({}));
      if (nothing) return std::optional(NodeSet());
    }
    for (const NodeSet* guess : {&plan_.fewer, &plan_.likely}) {
      if (!guessed || guess->empty()) continue;
      VERNIER_ASSIGN_OR_RETURN(const bool right, Passes(*guess));
      if (right) return FewestOf(*guess);
    }
    VERNIER_ASSIGN_OR_RETURN(const bool nothing, Passes({}));
    if (nothing) return std::optional(NodeSet());
    VERNIER_ASSIGN_OR_RETURN(const bool everything, Passes(nodes));
    if (!everything) return std::optional<NodeSet>();
    if (!plan_.groups.empty()) {
      VERNIER_ASSIGN_OR_RETURN(const Units groups, Smallest(plan_.groups));
      nodes = Together(groups);
    }
    VERNIER_ASSIGN_OR_RETURN(const Units left, Smallest(Singly(nodes)));
    return std::optional(Together(left));
  }

  Result<std::optional<NodeSet>> FewestOf(const NodeSet& guess) {
    Units units = Singly(guess);
    if (units.size() > kFew) {
      VERNIER_ASSIGN_OR_RETURN(units, Smallest(std::move(units)));
    } else {
      VERNIER_TRY(DropNeedless(units));
    }
    if (units.size() == 1) {
      VERNIER_ASSIGN_OR_RETURN(const bool nothing, Passes({}));
      if (nothing) return std::optional(NodeSet());
    }
    return std::optional(Together(units));
  }

  static Units Singly(const NodeSet& nodes) {
    Units units;
    for (const uint32_t node : nodes) units.push_back({node});
    return units;
  }

  // The check, until it was asked often enough.
  Result<std::optional<size_t>> Ask(std::span<const NodeSet> sets) {
    const size_t left = plan_.most_checks == 0 ? sets.size() : plan_.most_checks - count_;
    const auto affordable = sets.first(std::min(left, sets.size()));
    std::optional<size_t> found;
    if (!affordable.empty()) {
      VERNIER_ASSIGN_OR_RETURN(found, first_(affordable));
    }
    count_ += found ? *found + 1 : affordable.size();
    if (found && (!best_ || sets[*found].size() < best_->size())) best_ = sets[*found];
    if (found || affordable.size() == sets.size()) return found;
    spent_ = true;
    return NotFound("the checks are spent");
  }

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
  // The least suspicious is left out first: what was asked before one of them goes is asked again.
  Status DropNeedless(Units& kept) {
    while (kept.size() > 1) {
      std::vector<NodeSet> without;
      for (size_t i = kept.size(); i-- > 0;) {
        const std::span all(kept);
        without.push_back(Together(all.first(i), all.subspan(i + 1)));
      }
      VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> needless, asked_.First(without));
      if (!needless) break;
      kept.erase(kept.end() - 1 - static_cast<std::ptrdiff_t>(*needless));
    }
    return {};
  }

  const PrecisionPlan& plan_;
  const FirstOfSets& first_;
  const FirstOfSets limited_;
  AskedSets asked_;
  size_t count_ = 0;
  bool spent_ = false;
  std::optional<NodeSet> best_;
  std::unordered_map<uint32_t, uint32_t> rank_;
};

}  // namespace

Result<std::optional<KeptNodes>> FindKeptNodes(const PrecisionPlan& plan,
                                               const FirstOfSets& first) {
  return PrecisionSearch(plan, first).Find();
}

}  // namespace vernier
