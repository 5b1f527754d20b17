// The names of shards' files: how they are made, and what they say.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "vernier/shard_plan.h"

namespace vernier {

/// "result.json" of shard 3 of 7: "result.shard-0003-of-0007.json". A path without a name, such as
/// "", stays as it is.
std::string PathOfShard(const std::string& path, const ShardPlan& shard);

/// As PathOfShard(), for saved tensors, which have nothing inside that says whose they are: of
/// ShardRule::kStride "out.shard-0003-of-0007-stride.npz", where feeds go in fours
/// "out.shard-0003-of-0007-stride-4.npz" and, where some may be left out (`skips`),
/// "out.shard-0003-of-0007-stride-images.npz". A path without an extension, which would be a folder
/// of iterations, gets ".json": a folder fills up, and a shard that is done again would find it.
std::string PathOfShardTensors(const std::string& path, const ShardPlan& shard, bool skips);

/// What the name of a shard's file says: "dir/result.shard-0003-of-0007.json", with what may stand
/// behind it while it is written (".partial", ".partial.1").
struct ShardFileName {
  std::string whole;  ///< of the undivided run: "dir/result.json"
  int64_t number = 0, count = 0;
  bool stride = false;   ///< saved tensors of every Nth iteration; see PathOfShardTensors()
  int64_t multiple = 1;  ///< of those by stride: so many iterations in a row
  bool skips = false;    ///< of those by stride: iterations that it left out are not known
  bool partial = false;  ///< it is being written, or was when its process was killed
};

/// Nullopt for any other name.
std::optional<ShardFileName> ReadShardFileName(const std::string& path);

/// Whether `files`, in this order, are all shards of one run by stride, so that their iterations
/// take turns (InterleaveShards).
bool AreAllByStride(std::span<const std::string> files);

}  // namespace vernier
