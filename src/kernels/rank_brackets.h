// Exact order statistics in one pass. A sample says between which two keys each wanted rank should
// lie; the pass counts what is above the lower key and keeps the few values between the two. The
// counts prove where the rank lies, so the answer is exact or there is none, and then the caller
// must look for it by other means. Internal to kernels. See docs/adr/0013-exact-ranks-in-one-pass.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/block_kernels.h"

namespace vernier {

/// The keys of given ranks (0 = smallest) among `keys`, which are reordered.
template <typename Key>
std::vector<Key> SelectRanks(std::span<Key> keys, std::span<const int64_t> ascending_ranks) {
  std::vector<Key> out;
  auto from = keys.begin();
  for (const int64_t rank : ascending_ranks) {
    const auto place = keys.begin() + rank;
    // A rank that was found before has everything smaller to its left.
    if (place >= from) {
      std::nth_element(from, place, keys.end());
      from = place + 1;
    }
    out.push_back(*place);
  }
  return out;
}

template <typename Key>
class RankPlan {
 public:
  /// One open interval, the wanted ranks that are expected in it, and whether many equal keys lie
  /// on its ends, so that those have to be counted as well.
  struct Bracket {
    Key low;
    Key high;
    std::vector<int64_t> ranks;  ///< ascending, without duplicates
    bool counts_below_low = false;
    bool counts_up_to_high = false;
  };

  /// Everything lies in one bracket.
  static RankPlan KeepAll(std::vector<int64_t> ranks) {
    RankPlan plan;
    plan.brackets_ = {{kLowest, kHighest, Sorted(std::move(ranks))}};
    return plan;
  }

  /// `sample` is a random sample of `count` keys without NaN, and is reordered.
  static RankPlan FromSample(std::span<Key> sample, int64_t count, std::vector<int64_t> ranks) {
    RankPlan plan;
    std::vector<int64_t> places;
    int64_t last_high = 0;
    for (const int64_t rank : Sorted(std::move(ranks))) {
      const auto [low, high] = SamplePlaces(rank, count, static_cast<int64_t>(sample.size()));
      if (!plan.brackets_.empty() && low <= last_high) {
        plan.brackets_.back().ranks.push_back(rank);
        last_high = places.back() = std::max(last_high, high);
        continue;
      }
      plan.brackets_.push_back({kLowest, kHighest, {rank}});
      places.push_back(low);
      places.push_back(last_high = high);
    }
    plan.PlaceEnds(sample, places);
    return plan;
  }

  const std::vector<Bracket>& brackets() const { return brackets_; }
  bool empty() const { return brackets_.empty(); }

 private:
  static constexpr Key kLowest = std::numeric_limits<Key>::min();
  static constexpr Key kHighest = std::numeric_limits<Key>::max();

  static std::vector<int64_t> Sorted(std::vector<int64_t> ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  // So many standard deviations of a sample's rank to either side; one rank in 2,000 lies outside.
  static std::pair<int64_t, int64_t> SamplePlaces(int64_t rank, int64_t count, int64_t size) {
    const double share = (static_cast<double>(rank) + 0.5) / static_cast<double>(count);
    const double middle = share * static_cast<double>(size);
    const double margin = 3.5 * std::sqrt(middle * (1 - share)) + 2;
    return {static_cast<int64_t>(std::floor(middle - margin)),
            static_cast<int64_t>(std::ceil(middle + margin))};
  }

  void PlaceEnds(std::span<Key> sample, const std::vector<int64_t>& places) {
    const auto size = static_cast<int64_t>(sample.size());
    std::vector<int64_t> inside;
    for (const int64_t place : places) {
      if (place >= 0 && place < size) inside.push_back(place);
    }
    const std::vector<Key> found = SelectRanks<Key>(sample, inside);
    size_t next = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0 || places[i] >= size) continue;
      const Key key = found[next++];
      Bracket& bracket = brackets_[i / 2];
      const bool ties = std::count(sample.begin(), sample.end(), key) > 2;
      (i % 2 == 0 ? bracket.low : bracket.high) = key;
      (i % 2 == 0 ? bracket.counts_below_low : bracket.counts_up_to_high) = ties;
    }
  }

  std::vector<Bracket> brackets_;
};

/// What one thread saw of a series. Tallies of several threads add up in any order.
template <typename T>
class RankTally {
 public:
  using Key = RankKey<T>;

  RankTally() = default;
  /// Keeps up to `capacity` values.
  RankTally(const RankPlan<Key>& plan, size_t capacity)
      : plan_(&plan), above_low_(plan.brackets().size()), ties_(plan.brackets().size()) {
    capacity_ = capacity;
    if (!plan.empty()) {
      values_ = std::make_unique_for_overwrite<T[]>(capacity + kBlockSize + kHitPadding);
    }
    for (const auto& bracket : plan.brackets()) {
      if (groups_.empty() || groups_.back().count == kMostBrackets) groups_.emplace_back();
      Brackets<Key>& group = groups_.back();
      group.low[group.count] = bracket.low;
      group.high[group.count++] = bracket.high;
    }
  }

  /// Values without NaN.
  void Add(const T* values, size_t n) {
    if (overflowed_ || groups_.empty()) return;
    const BlockKernels<T>& kernels = VectorKernels<T>();
    for (size_t group = 0; group < groups_.size(); ++group) {
      BracketHits<T> hits{.values = values_.get(), .used = used_};
      kernels.rank(values, n, groups_[group], hits);
      used_ = hits.used;
      if (used_ > capacity_) {
        overflowed_ = true;
        return;
      }
      for (size_t i = 0; i < groups_[group].count; ++i) {
        above_low_[group * kMostBrackets + i] += hits.above_low[i];
      }
    }
    for (size_t i = 0; i < ties_.size(); ++i) {
      const auto& bracket = plan_->brackets()[i];
      if (bracket.counts_below_low) {
        ties_[i].below_low += kernels.count_below(values, n, bracket.low);
      }
      if (bracket.counts_up_to_high) {
        ties_[i].up_to_high += kernels.count_below(values, n, static_cast<Key>(bracket.high + 1));
      }
    }
  }

  /// As Add of so many zeros, in no time. False: zeros would have to be kept, so Add must be
  /// called.
  bool AddZeros(size_t n) {
    const auto count = static_cast<int64_t>(n);
    for (const auto& bracket : plan_->brackets()) {
      if (bracket.low < 0 && 0 < bracket.high) return false;
    }
    for (size_t i = 0; i < ties_.size(); ++i) {
      const auto& bracket = plan_->brackets()[i];
      above_low_[i] += 0 > bracket.low ? count : 0;
      ties_[i].below_low += 0 < bracket.low ? count : 0;
      ties_[i].up_to_high += 0 <= bracket.high ? count : 0;
    }
    return true;
  }

  bool overflowed() const { return overflowed_; }
  int64_t above_low(size_t bracket) const { return above_low_[bracket]; }
  int64_t below_low(size_t bracket) const { return ties_[bracket].below_low; }
  int64_t up_to_high(size_t bracket) const { return ties_[bracket].up_to_high; }
  std::span<const T> values() const { return {values_.get(), used_}; }

 private:
  struct Ties {
    int64_t below_low = 0;
    int64_t up_to_high = 0;
  };

  const RankPlan<Key>* plan_ = nullptr;
  std::vector<Brackets<Key>> groups_;
  std::vector<int64_t> above_low_;
  std::vector<Ties> ties_;
  std::unique_ptr<T[]> values_;  ///< of keys inside the brackets
  size_t capacity_ = 0;
  size_t used_ = 0;
  bool overflowed_ = false;
};

/// Ranks with their keys, ascending.
template <typename T>
using FoundRanks = std::vector<std::pair<int64_t, RankKey<T>>>;

/// All wanted ranks among what the tallies saw, `count` values; nullopt when one of them lies
/// outside its bracket or values had to be dropped.
template <typename T>
std::optional<FoundRanks<T>> FindRanks(const RankPlan<RankKey<T>>& plan,
                                       std::span<const RankTally<T>* const> tallies, int64_t count);

}  // namespace vernier
