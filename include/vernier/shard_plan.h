// One of several processes that share the iterations of a run. Which are its own follows from
// indices alone, so that nobody has to hand them out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace vernier {

enum class ShardRule : uint8_t {
  kContiguous,  ///< each shard has a range; the first ones have one iteration more
  kStride,      ///< shard K of N has the iterations K-1, K-1+N, K-1+2N, ...
};

/// More shards than anyone starts.
inline constexpr int64_t kMostShards = 1000000;

struct ShardPlan {
  int64_t number = 0;  ///< from 1 to `count`; 0: the run is not divided
  int64_t count = 1;
  ShardRule rule = ShardRule::kContiguous;
  /// A shard that has done its part ends with 0, whatever it found: the verdict is the merge's.
  bool ends_done = false;
  // For `merge`, which names the command of a shard that is missing; no part of a run's file.
  std::string folder = {};              ///< in which the program was started
  std::vector<std::string> words = {};  ///< of the command line

  bool wanted() const { return number > 0; }

  /// How many of `total` iterations are its own: all where the run is not divided.
  int64_t CountOf(int64_t total) const {
    return wanted() ? total / count + (number <= total % count ? 1 : 0) : total;
  }

  /// The index, among all iterations of the run, of its own iteration `place`, from 0. `total` does
  /// not matter for kStride.
  int64_t IndexOf(int64_t place, int64_t total) const {
    if (!wanted()) return place;
    const int64_t before = number - 1;
    if (rule == ShardRule::kStride) return before + place * count;
    return before * (total / count) + std::min(before, total % count) + place;
  }

  template <typename Plan, typename Fields>
  static void EachField(Plan& shard, Fields& field) {
    field("number", shard.number);
    field("count", shard.count);
    field("rule", shard.rule);
    field("ends_done", shard.ends_done);
  }
};

}  // namespace vernier
