// One of several processes that share the iterations of a run. Its own iterations follow from
// indices alone, so no coordinator has to assign them.
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

/// More shards than any run needs.
inline constexpr int64_t kMostShards = 1000000;

struct ShardPlan {
  int64_t number = 0;  ///< from 1 to `count`; 0: the run is not divided
  int64_t count = 1;
  ShardRule rule = ShardRule::kContiguous;
  /// A shard that has done its part ends with 0, whatever it found: the verdict is the merge's.
  bool ends_done = false;
  /// Iterations are divided in groups of this many, from 0 on; the last may be shorter. Not set in
  /// a plan: RunPlan::ShardOfFeeds() takes it from --batch-feeds.
  int64_t multiple = 1;
  // For `merge`, which names the command of a shard that is missing; no part of a run's file.
  std::string folder = {};              ///< in which the program was started
  std::vector<std::string> words = {};  ///< of the command line

  bool wanted() const { return number > 0; }

  /// How many of `total` iterations are its own: all where the run is not divided.
  int64_t CountOf(int64_t total) const {
    if (!wanted()) return total;
    const int64_t groups = GroupsOf(total);
    const int64_t own = groups / count + (number <= groups % count ? 1 : 0);
    const bool has_last = own > 0 && GroupOf(own - 1, groups) == groups - 1;
    return own * multiple - (has_last ? groups * multiple - total : 0);
  }

  /// The index, among all iterations of the run, of its own iteration `place`, from 0. `total` does
  /// not matter for kStride.
  int64_t IndexOf(int64_t place, int64_t total) const {
    if (!wanted()) return place;
    return GroupOf(place / multiple, GroupsOf(total)) * multiple + place % multiple;
  }

  template <typename Plan, typename Fields>
  static void EachField(Plan& shard, Fields& field) {
    field("number", shard.number);
    field("count", shard.count);
    field("rule", shard.rule);
    field("ends_done", shard.ends_done);
  }

 private:
  int64_t GroupsOf(int64_t total) const { return total / multiple + (total % multiple > 0); }
  int64_t GroupOf(int64_t place, int64_t groups) const {
    const int64_t before = number - 1;
    if (rule == ShardRule::kStride) return before + place * count;
    return before * (groups / count) + std::min(before, groups % count) + place;
  }
};

}  // namespace vernier
