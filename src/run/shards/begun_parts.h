// What shards are writing, while they write it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/shard_lines.h"
#include "vernier/status.h"

namespace vernier {

/// What the name of a part says: "dir/result.shard-0003-of-0007.json", with what may stand behind
/// it while the part is written (".partial", ".partial.1").
struct ShardPartName {
  std::string whole;  ///< of the undivided run: "dir/result.json"
  int64_t number = 0, count = 0;
  bool partial = false;
};

/// Nullopt for any other name.
std::optional<ShardPartName> ReadShardPartName(const std::string& path);

/// The files beside `whole` that its shards are writing, or have left when they were killed,
/// sorted. Empty where the folder cannot be read.
std::vector<std::string> FindBegunParts(const std::string& whole);

/// Reads what is there by now: `head` is called first, unless it is not written yet, and then
/// `iteration` for each whole line of one, in order. Gives the time of the last write in
/// milliseconds since 1970. kMalformed for what is no part, and the errors of the two. A file that
/// grows meanwhile is none.
Result<int64_t> ReadBegunPart(const std::string& path,
                              const std::function<Status(const ShardHead&)>& head,
                              const std::function<Status(std::string_view)>& iteration);

}  // namespace vernier
