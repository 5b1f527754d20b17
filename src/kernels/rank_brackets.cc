#include "kernels/rank_brackets.h"

#include <array>
#include <bit>

namespace vernier {
namespace {

// The keys of given ranks among the keys strictly between `low` and `high` of all tallies, of which
// there are `inside`: counted by their leading bits, then those of the wanted buckets are sorted.
template <typename T>
class BracketSelector {
 public:
  using Key = RankKey<T>;
  using Bracket = typename RankPlan<Key>::Bracket;

  BracketSelector(const Bracket& bracket, std::span<RankTally<T>* const> tallies)
      : bracket_(bracket), tallies_(tallies), base_(static_cast<Unsigned>(bracket.low)) {
    const auto width = static_cast<Unsigned>(static_cast<Unsigned>(bracket.high) - base_);
    const int bits = std::bit_width(width);
    shift_ = std::max(0, bits - kBucketBits);
  }

  int64_t CountInside() {
    size_t kept = 0;
    for (RankTally<T>* tally : tallies_) kept += tally->keys().size();
    if (kept <= kFewKeys) {
      ForEachInside([&](Key key) { few_.push_back(key); });
      return static_cast<int64_t>(few_.size());
    }
    counts_.fill(0);
    int64_t inside = 0;
    ForEachInside([&](Key key) {
      ++counts_[BucketOf(key)];
      ++inside;
    });
    return inside;
  }

  /// After CountInside. `ranks` are ascending and count from the first key inside.
  std::vector<Key> Select(std::span<const int64_t> ranks) {
    if (ranks.empty()) return {};
    if (!few_.empty()) return SelectRanks<Key>(few_, ranks);
    std::array<bool, kBuckets> wanted{};
    std::vector<int64_t> places;  // among the keys in wanted buckets
    int64_t before = 0;
    int64_t kept = 0;
    size_t next = 0;
    for (size_t bucket = 0; bucket < kBuckets && next < ranks.size(); ++bucket) {
      const auto size = static_cast<int64_t>(counts_[bucket]);
      for (; next < ranks.size() && ranks[next] < before + size; ++next) {
        wanted[bucket] = true;
        places.push_back(kept + ranks[next] - before);
      }
      before += size;
      kept += wanted[bucket] ? size : 0;
    }
    std::vector<Key> keys;
    keys.reserve(static_cast<size_t>(kept));
    ForEachInside([&](Key key) {
      if (wanted[BucketOf(key)]) keys.push_back(key);
    });
    return SelectRanks<Key>(keys, places);
  }

 private:
  using Unsigned = std::make_unsigned_t<Key>;
  static constexpr size_t kFewKeys = 1024;
  static constexpr int kBucketBits = 11;
  static constexpr size_t kBuckets = (size_t{1} << kBucketBits) + 1;

  size_t BucketOf(Key key) const {
    return static_cast<size_t>(static_cast<Unsigned>(static_cast<Unsigned>(key) - base_) >> shift_);
  }

  template <typename Function>
  void ForEachInside(Function function) {
    for (RankTally<T>* tally : tallies_) {
      for (const Key key : tally->keys()) {
        if (key > bracket_.low && key < bracket_.high) function(key);
      }
    }
  }

  const Bracket& bracket_;
  std::span<RankTally<T>* const> tallies_;
  Unsigned base_;
  int shift_ = 0;
  std::vector<Key> few_;  ///< all keys inside, where they are not worth counting
  std::array<uint32_t, kBuckets> counts_;
};

}  // namespace

template <typename T>
std::optional<std::vector<std::pair<int64_t, RankKey<T>>>> FindRanks(
    const RankPlan<RankKey<T>>& plan, std::span<RankTally<T>* const> tallies, int64_t count) {
  std::vector<std::pair<int64_t, RankKey<T>>> found;
  for (const RankTally<T>* tally : tallies) {
    if (tally->overflowed()) return std::nullopt;
  }
  for (size_t i = 0; i < plan.brackets().size(); ++i) {
    const auto& bracket = plan.brackets()[i];
    int64_t above_low = 0;
    int64_t below_low = 0;
    int64_t up_to_high = 0;
    for (const RankTally<T>* tally : tallies) {
      above_low += tally->above_low(i);
      below_low += tally->below_low(i);
      up_to_high += tally->up_to_high(i);
    }
    const int64_t first_inside = count - above_low;
    BracketSelector<T> selector(bracket, tallies);
    const int64_t end_inside = first_inside + selector.CountInside();
    std::vector<int64_t> ranks_inside;
    for (const int64_t rank : bracket.ranks) {
      if (rank >= first_inside && rank < end_inside) {
        ranks_inside.push_back(rank - first_inside);
        continue;
      }
      const bool is_low = bracket.counts_below_low && rank < first_inside && rank >= below_low;
      const bool is_high = bracket.counts_up_to_high && rank >= end_inside && rank < up_to_high;
      if (!is_low && !is_high) return std::nullopt;
      found.push_back({rank, is_low ? bracket.low : bracket.high});
    }
    const std::vector<RankKey<T>> keys = selector.Select(ranks_inside);
    for (size_t k = 0; k < keys.size(); ++k) {
      found.push_back({first_inside + ranks_inside[k], keys[k]});
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

template std::optional<std::vector<std::pair<int64_t, int32_t>>> FindRanks<float>(
    const RankPlan<int32_t>&, std::span<RankTally<float>* const>, int64_t);
template std::optional<std::vector<std::pair<int64_t, int64_t>>> FindRanks<double>(
    const RankPlan<int64_t>&, std::span<RankTally<double>* const>, int64_t);

}  // namespace vernier
