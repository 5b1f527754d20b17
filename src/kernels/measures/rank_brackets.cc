#include "kernels/measures/rank_brackets.h"

namespace vernier {
namespace {

// The values that several tallies kept, as one sequence.
template <typename T>
class KeptValues {
 public:
  using Key = RankKey<T>;

  explicit KeptValues(std::span<const RankTally<T>* const> tallies) : tallies_(tallies) {
    for (const RankTally<T>* tally : tallies) size_ += tally->values().size();
  }

  size_t size() const { return size_; }

  int64_t CountBelow(Key key) const {
    const Thresholds<Key> threshold{1, {key}};
    int64_t below = 0;
    ForEachBlock([&](const T* values, size_t n) {
      VectorKernels<T>().count_below(values, n, threshold, &below);
    });
    return below;
  }

  /// The keys of ascending ranks among them.
  std::vector<Key> Select(const std::vector<int64_t>& ranks) const {
    if (ranks.empty()) return {};
    if (size_ > kFew) {
      if (const auto found = SelectByBrackets(ranks)) return *found;
    }
    std::vector<Key> keys;
    keys.reserve(size_);
    ForEachBlock([&](const T* values, size_t n) {
      for (size_t i = 0; i < n; ++i) keys.push_back(KeyOf(values[i]));
    });
    return SelectRanks<Key>(keys, ranks);
  }

 private:
  static constexpr size_t kFew = 2048;

  template <typename Function>
  void ForEachBlock(Function function) const {
    for (const RankTally<T>* tally : tallies_) {
      const std::span<const T> values = tally->values();
      for (size_t start = 0; start < values.size(); start += kBlockSize) {
        function(values.data() + start, std::min(kBlockSize, values.size() - start));
      }
    }
  }

  // The same method again, on what is left.
  std::optional<std::vector<Key>> SelectByBrackets(const std::vector<int64_t>& ranks) const {
    std::vector<Key> sample;
    const size_t sample_size = size_ > 65536 ? 4096 : 1024;
    const size_t stride = size_ / sample_size;
    sample.reserve(sample_size + tallies_.size() + 1);
    for (const RankTally<T>* tally : tallies_) {
      const std::span<const T> values = tally->values();
      for (size_t i = stride / 2; i < values.size(); i += stride)
        sample.push_back(KeyOf(values[i]));
    }
    const auto count = static_cast<int64_t>(size_);
    const auto plan = RankPlan<Key>::FromSample(
        static_cast<int64_t>(sample.size()), count, ranks,
        [&sample](const std::vector<int64_t>& places) { return SelectRanks<Key>(sample, places); });
    RankTally<T> tally(plan, size_ / 2);
    ForEachBlock([&](const T* values, size_t n) { tally.Add(values, n); });
    const RankTally<T>* const one = &tally;
    const auto found = FindRanks<T>(plan, {&one, 1}, count);
    if (!found) return std::nullopt;
    std::vector<Key> keys;
    for (const int64_t rank : ranks) {
      const auto at = std::lower_bound(found->begin(), found->end(), rank,
                                       [](const auto& x, int64_t y) { return x.first < y; });
      keys.push_back(at->second);
    }
    return keys;
  }

  std::span<const RankTally<T>* const> tallies_;
  size_t size_ = 0;
};

struct BracketCounts {
  int64_t above_low = 0;
  int64_t below_low = 0;
  int64_t up_to_high = 0;
};

template <typename T>
BracketCounts AddUp(std::span<const RankTally<T>* const> tallies, size_t bracket) {
  BracketCounts out;
  for (const RankTally<T>* tally : tallies) {
    out.above_low += tally->above_low(bracket);
    out.below_low += tally->below_low(bracket);
    out.up_to_high += tally->up_to_high(bracket);
  }
  return out;
}

}  // namespace

template <typename T>
std::optional<FoundRanks<T>> FindRanks(const RankPlan<RankKey<T>>& plan,
                                       std::span<const RankTally<T>* const> tallies,
                                       int64_t count) {
  for (const RankTally<T>* tally : tallies) {
    if (tally->overflowed()) return std::nullopt;
  }
  const KeptValues<T> kept(tallies);
  FoundRanks<T> found;
  std::vector<int64_t> kept_ranks;   // those that are among the kept values, counted there
  std::vector<int64_t> their_ranks;  // and as they were asked for
  for (size_t i = 0; i < plan.brackets().size(); ++i) {
    const auto& bracket = plan.brackets()[i];
    const BracketCounts counts = AddUp(tallies, i);
    const int64_t first_inside = count - counts.above_low;
    const int64_t kept_before =
        bracket.low == bracket.high ? 0 : kept.CountBelow(static_cast<RankKey<T>>(bracket.low + 1));
    const int64_t inside =
        bracket.low == bracket.high ? 0 : kept.CountBelow(bracket.high) - kept_before;
    for (const int64_t rank : bracket.ranks) {
      const bool is_low =
          bracket.counts_below_low && rank < first_inside && rank >= counts.below_low;
      const bool is_high =
          bracket.counts_up_to_high && rank >= first_inside + inside && rank < counts.up_to_high;
      if (rank >= first_inside && rank < first_inside + inside) {
        kept_ranks.push_back(kept_before + rank - first_inside);
        their_ranks.push_back(rank);
      } else if (is_low || is_high) {
        found.push_back({rank, is_low ? bracket.low : bracket.high});
      } else {
        return std::nullopt;
      }
    }
  }
  const std::vector<RankKey<T>> keys = kept.Select(kept_ranks);
  for (size_t k = 0; k < keys.size(); ++k) found.push_back({their_ranks[k], keys[k]});
  std::sort(found.begin(), found.end());
  return found;
}

template std::optional<FoundRanks<float>> FindRanks(const RankPlan<int32_t>&,
                                                    std::span<const RankTally<float>* const>,
                                                    int64_t);
template std::optional<FoundRanks<double>> FindRanks(const RankPlan<int64_t>&,
                                                     std::span<const RankTally<double>* const>,
                                                     int64_t);

}  // namespace vernier
