// How far the shards of a run are, while they run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/log/log.h"

namespace vernier {

/// A shard that has begun and left no part yet. Whether it still runs cannot be seen from a file.
struct BegunShard {
  int64_t number = 0;
  int64_t iterations = 0;   ///< that are written
  int64_t seconds_ago = 0;  ///< when the last was, about; 0 where the clock went back
  double seconds = 0;       ///< from its beginning to then
};

struct ShardsSeen {
  int64_t count = 0;                   ///< of shards; 0: no file could be read
  int64_t total = 0;                   ///< iterations of the whole run; 0: no shard is done
  std::vector<int64_t> done, missing;  ///< numbers of shards, ascending
  std::vector<BegunShard> begun;       ///< by number; none is done as well
  std::vector<std::string> parts;      ///< what `merge` would read: files that do not count, too
  /// Iterations, each counted once, and those of them in which every output has passed.
  int64_t iterations = 0, agreeing = 0;
  /// Those in which no output has failed, and no pair, or not every pair, had an output to compare.
  int64_t not_compared = 0;
  /// Until the last of those that have begun is done, by their own pace; below 0: it is late.
  std::optional<double> seconds_left;
  /// That the missing ones take, one after another. Neither is known before a shard is done.
  std::optional<double> seconds_missing;
};

/// Looks at parts, at what shards are writing (PART.partial, PART.partial.1, also where they are
/// not among `paths`), and at nothing else. What cannot be read, or is of another run than the
/// first, is a warning, and counts as missing.
ShardsSeen LookAtShards(const std::vector<std::string>& paths, Logger& logger);

/// Lines: the shards, the iterations, and the time left where it is known.
std::string DescribeShards(const ShardsSeen& seen);

}  // namespace vernier
