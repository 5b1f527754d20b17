// Exact order statistics in one pass. A sample says between which two keys each wanted rank should
// lie; the pass counts what is above the lower key and keeps the few values between the two. The
// counts prove where the rank lies, so the answer is exact or there is none, and then the caller
// must look for it by other means. Internal to kernels. See
// docs/adr/0013-exact-ranks-in-one-pass.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/measures/block_kernels.h"

namespace vernier {

/// Moves the keys of ascending ranks to those places: first the middle rank, which parts the
/// others.
template <typename Key>
void PlaceRanks(std::span<Key> keys, std::span<const int64_t> ranks, int64_t first) {
  if (ranks.empty()) return;
  const size_t middle = ranks.size() / 2;
  const auto place = static_cast<size_t>(ranks[middle] - first);
  std::nth_element(keys.begin(), keys.begin() + ranks[middle] - first, keys.end());
  PlaceRanks(keys.first(place), ranks.first(middle), first);
  PlaceRanks(keys.subspan(place + 1), ranks.subspan(middle + 1), ranks[middle] + 1);
}

/// The keys of given ranks (0 = smallest) among `keys`, which are reordered. The ranks ascend,
/// without duplicates.
template <typename Key>
std::vector<Key> SelectRanks(std::span<Key> keys, std::span<const int64_t> ranks) {
  PlaceRanks(keys, ranks, 0);
  std::vector<Key> out;
  out.reserve(ranks.size());
  for (const int64_t rank : ranks) out.push_back(keys[static_cast<size_t>(rank)]);
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

  /// From a random sample of `count` keys, which has `size` of them and no NaN. `keys_at` gives the
  /// sample's keys of ascending ranks.
  template <typename KeysAt>
  static RankPlan FromSample(int64_t size, int64_t count, std::vector<int64_t> ranks,
                             KeysAt keys_at) {
    RankPlan plan;
    std::vector<Ends> ends;
    for (const int64_t rank : Sorted(std::move(ranks))) {
      const Ends wanted = EndsFor(rank, count, size);
      if (ends.empty() || wanted.low > ends.back().high) {
        plan.brackets_.push_back({kLowest, kHighest, {rank}});
        ends.push_back(wanted);
      } else {
        plan.brackets_.back().ranks.push_back(rank);
        ends.back().high = std::max(ends.back().high, wanted.high);
      }
    }
    plan.PlaceEnds(ends, size, keys_at);
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

  // Ranks within the sample.
  struct Ends {
    int64_t low;
    int64_t high;
  };

  // So many standard deviations of a sample's rank to either side; one rank in 2,000 lies outside.
  static Ends EndsFor(int64_t rank, int64_t count, int64_t size) {
    const double share = (static_cast<double>(rank) + 0.5) / static_cast<double>(count);
    const double middle = share * static_cast<double>(size);
    const double margin = 3.5 * std::sqrt(middle * (1 - share)) + 2;
    return {static_cast<int64_t>(std::floor(middle - margin)),
            static_cast<int64_t>(std::ceil(middle + margin))};
  }

  static constexpr int64_t kFurther = 3;

  template <typename KeysAt>
  void PlaceEnds(const std::vector<Ends>& ends, int64_t size, KeysAt keys_at) {
    const int64_t many = size / 256;
    const auto within = [size](int64_t place) { return std::clamp<int64_t>(place, 0, size - 1); };
    std::vector<int64_t> places;
    for (const auto& [low, high] : ends) {
      for (const int64_t place : {low - many, low, low + kFurther, low + many,  //
                                  high - many, high - kFurther, high, high + many}) {
        places.push_back(within(place));
      }
    }
    places = Sorted(std::move(places));
    const std::vector<Key> keys = keys_at(places);
    const auto key_at = [&](int64_t place) {
      const auto at = std::lower_bound(places.begin(), places.end(), within(place));
      return keys[static_cast<size_t>(at - places.begin())];
    };
    for (size_t i = 0; i < ends.size(); ++i) {
      const auto& [low, high] = ends[i];
      Bracket& bracket = brackets_[i];
      if (low >= 0) {
        std::tie(bracket.low, bracket.counts_below_low) = PlaceEnd(key_at, low, 1, many);
      }
      if (high < size) {
        std::tie(bracket.high, bracket.counts_up_to_high) = PlaceEnd(key_at, high, -1, many);
      }
    }
  }

  // The key that ends a bracket, and whether its equals have to be counted. An end that has an
  // equal a little further inside has several. Up to about 1 % of all keys the bracket takes them
  // in, which costs less than to count them: short types have a few everywhere. More, such as the
  // zeros after a ReLU, stay outside.
  template <typename KeyAt>
  static std::pair<Key, bool> PlaceEnd(KeyAt key_at, int64_t place, int inwards, int64_t many) {
    const Key key = key_at(place);
    if (key_at(place + inwards * kFurther) != key) return {key, false};
    if (key_at(place - many) == key || key_at(place + many) == key) return {key, true};
    return {static_cast<Key>(key - inwards), false};
  }

  std::vector<Bracket> brackets_;
};

/// How many of the keys seen lie below each of some thresholds.
template <typename T>
class ThresholdCounts {
 public:
  using Key = RankKey<T>;

  /// The number under which the count can be requested.
  size_t Watch(Key key) {
    const auto known = std::find(keys_.begin(), keys_.end(), key);
    if (known != keys_.end()) return static_cast<size_t>(known - keys_.begin());
    if (groups_.empty() || groups_.back().count == kMostThresholds) groups_.emplace_back();
    groups_.back().keys[groups_.back().count++] = key;
    keys_.push_back(key);
    below_.resize(groups_.size() * kMostThresholds);
    return keys_.size() - 1;
  }

  void Add(const T* values, size_t n) {
    const BlockKernels<T>& kernels = VectorKernels<T>();
    for (size_t i = 0; i < groups_.size(); ++i) {
      kernels.count_below(values, n, groups_[i], below_.data() + i * kMostThresholds);
    }
  }
  void AddZeros(int64_t n) {
    for (size_t i = 0; i < keys_.size(); ++i) below_[i] += 0 < keys_[i] ? n : 0;
  }

  int64_t below(size_t number) const { return below_[number]; }

 private:
  std::vector<Key> keys_;
  std::vector<Thresholds<Key>> groups_;
  std::vector<int64_t> below_;
};

/// What one thread saw of a series. Tallies of several threads add up in any order.
template <typename T>
class RankTally {
 public:
  using Key = RankKey<T>;

  RankTally() = default;
  /// Keeps up to `capacity` values.
  RankTally(const RankPlan<Key>& plan, size_t capacity) : plan_(&plan) {
    capacity_ = capacity;
    for (const auto& bracket : plan.brackets()) {
      BracketPlace& place = places_.emplace_back();
      if (bracket.counts_below_low) place.below_low = ends_.Watch(bracket.low);
      if (bracket.counts_up_to_high) {
        place.up_to_high = ends_.Watch(static_cast<Key>(bracket.high + 1));
      }
      // Of many equal values, which short types have, the counts suffice.
      place.is_one_key = bracket.low == bracket.high && bracket.counts_up_to_high;
      if (place.is_one_key) continue;
      if (groups_.empty() || groups_.back().count == kMostBrackets) groups_.emplace_back();
      Brackets<Key>& group = groups_.back();
      place.slot = (groups_.size() - 1) * kMostBrackets + group.count;
      group.low[group.count] = bracket.low;
      group.high[group.count++] = bracket.high;
    }
    above_low_.resize(groups_.size() * kMostBrackets);
    if (!groups_.empty()) {
      values_ = std::make_unique_for_overwrite<T[]>(capacity + kBlockSize + kHitPadding);
    }
  }

  /// Values without NaN.
  void Add(const T* values, size_t n) {
    if (overflowed_ || places_.empty()) return;
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
    ends_.Add(values, n);
    seen_ += static_cast<int64_t>(n);
  }

  /// As Add of so many zeros, in no time. False: zeros would have to be kept, so Add must be
  /// called.
  bool AddZeros(size_t n) {
    const auto count = static_cast<int64_t>(n);
    for (const auto& bracket : plan_->brackets()) {
      if (bracket.low < 0 && 0 < bracket.high) return false;
    }
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].is_one_key) continue;
      above_low_[places_[i].slot] += 0 > plan_->brackets()[i].low ? count : 0;
    }
    ends_.AddZeros(count);
    seen_ += count;
    return true;
  }

  bool overflowed() const { return overflowed_; }
  int64_t above_low(size_t bracket) const {
    const BracketPlace& place = places_[bracket];
    return place.is_one_key ? seen_ - ends_.below(*place.up_to_high) : above_low_[place.slot];
  }
  /// 0 where the plan does not ask for it.
  int64_t below_low(size_t bracket) const { return CountAt(places_[bracket].below_low); }
  int64_t up_to_high(size_t bracket) const { return CountAt(places_[bracket].up_to_high); }
  std::span<const T> values() const { return {values_.get(), used_}; }

 private:
  /// Where the counts of one bracket of the plan are.
  struct BracketPlace {
    size_t slot = 0;  ///< in above_low_
    bool is_one_key = false;
    std::optional<size_t> below_low;  ///< in ends_
    std::optional<size_t> up_to_high;
  };

  int64_t CountAt(std::optional<size_t> number) const { return number ? ends_.below(*number) : 0; }

  const RankPlan<Key>* plan_ = nullptr;
  std::vector<BracketPlace> places_;
  std::vector<Brackets<Key>> groups_;
  std::vector<int64_t> above_low_;
  ThresholdCounts<T> ends_;
  std::unique_ptr<T[]> values_;  ///< of keys inside the brackets
  size_t capacity_ = 0;
  size_t used_ = 0;
  int64_t seen_ = 0;
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
