// What the name of a shard's file says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace vernier {

inline constexpr const char* kStrideMark = "-stride";
inline constexpr const char* kImagesMark = "-images";

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
