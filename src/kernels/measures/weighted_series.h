// Statistics of numbers that occur several times each. Internal to kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "kernels/measures/block_kernels.h"
#include "kernels/measures/compensated_sum.h"
#include "kernels/measures/pair_measures.h"
#include "kernels/measures/quantile_rule.h"

namespace vernier {

template <typename T>
class WeightedSeries {
 public:
  /// `values[i]` occurs `weights[i]` times, at least once.
  WeightedSeries(std::span<const T> values, std::span<const int64_t> weights)
      : values_(values), weights_(weights) {}

  /// Without places. min and max are NaN when there is a NaN.
  ValueStatistics Statistics(StatisticsLevel level, std::span<const double> quantiles) const {
    ValueStatistics out;
    for (const int64_t weight : weights_) out.count += weight;
    if (level == StatisticsLevel::kNone) return out;
    AddMoments(out);
    out.median = std::numeric_limits<double>::quiet_NaN();
    if (level != StatisticsLevel::kRanks) return out;
    out.quantiles.assign(quantiles.size(), out.median);
    if (out.nan_count > 0) return out;
    const std::vector<std::pair<RankKey<T>, int64_t>> found =
        KeysUpTo(NeededRanks(out.count, quantiles));
    const auto at = [&found](int64_t rank) {
      const auto place = std::upper_bound(found.begin(), found.end(), rank,
                                          [](int64_t x, const auto& y) { return x < y.second; });
      return static_cast<double>(ValueOf<T>(place->first));
    };
    out.median = MiddleOf(at((out.count - 1) / 2), at(out.count / 2));
    for (size_t i = 0; i < quantiles.size(); ++i) {
      const RankPosition position = Locate(out.count, quantiles[i]);
      out.quantiles[i] = Interpolate(at(position.previous), at(position.next), position.fraction);
    }
    return out;
  }

 private:
  template <typename Function>
  void ForEach(Function function) const {
    for (size_t i = 0; i < values_.size(); ++i) {
      function(static_cast<double>(values_[i]), weights_[i]);
    }
  }

  void AddMoments(ValueStatistics& out) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    CompensatedSum sum;
    CompensatedSum magnitudes;
    out.min = kInfinity;
    out.max = -kInfinity;
    ForEach([&](double value, int64_t weight) {
      const auto times = static_cast<double>(weight);
      sum.Add(value * times);
      magnitudes.Add(std::fabs(value) * times);
      out.nan_count += std::isnan(value) ? weight : 0;
      out.infinite_count += std::isinf(value) ? weight : 0;
      out.min = value < out.min ? value : out.min;
      out.max = value > out.max ? value : out.max;
    });
    const auto count = static_cast<double>(out.count);
    out.mean = sum.value() / count;
    out.average_magnitude = magnitudes.value() / count;
    CompensatedSum squares;
    ForEach([&](double value, int64_t weight) {
      const double deviation = value - out.mean;
      squares.Add(deviation * deviation * static_cast<double>(weight));
    });
    const bool finite = out.nan_count == 0 && out.infinite_count == 0;
    out.variance = finite ? squares.value() / count : std::numeric_limits<double>::quiet_NaN();
    out.std_dev = std::sqrt(out.variance);
    if (out.nan_count > 0) out.min = out.max = std::numeric_limits<double>::quiet_NaN();
  }

  // Of each bucket of keys that a wanted rank falls in: its keys, ascending, each with the number
  // of values up to and including it.
  std::vector<std::pair<RankKey<T>, int64_t>> KeysUpTo(std::vector<int64_t> ranks) const {
    using Key = RankKey<T>;
    constexpr int kBits = 12;
    constexpr int kShift = static_cast<int>(sizeof(Key)) * 8 - kBits;
    constexpr size_t kMiddle = size_t{1} << (kBits - 1);
    const auto bucket_of = [](T value) {
      return static_cast<size_t>((KeyOf(value) >> kShift) + static_cast<Key>(kMiddle));
    };
    std::sort(ranks.begin(), ranks.end());
    std::vector<int64_t> counts(2 * kMiddle);
    for (size_t i = 0; i < values_.size(); ++i) counts[bucket_of(values_[i])] += weights_[i];
    std::vector<int64_t> before(counts.size(), -1);  // of wanted buckets: what lies below them
    int64_t below = 0;
    size_t next = 0;
    for (size_t bucket = 0; bucket < counts.size(); ++bucket) {
      for (; next < ranks.size() && ranks[next] < below + counts[bucket]; ++next) {
        before[bucket] = below;
      }
      below += counts[bucket];
    }
    std::vector<std::pair<Key, int64_t>> keys;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (before[bucket_of(values_[i])] >= 0) keys.push_back({KeyOf(values_[i]), weights_[i]});
    }
    std::sort(keys.begin(), keys.end());
    int64_t up_to = 0;
    size_t last_bucket = counts.size();
    for (auto& [key, weight] : keys) {
      const size_t bucket = bucket_of(ValueOf<T>(key));
      if (bucket != last_bucket) up_to = before[bucket];
      last_bucket = bucket;
      weight = up_to += weight;
    }
    return keys;
  }

  std::span<const T> values_;
  std::span<const int64_t> weights_;
};

}  // namespace vernier
