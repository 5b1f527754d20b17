// Shards that have left no part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/parts/shard_parts.h"

namespace vernier {

/// A sentence for each of the first ten missing shards, with its iterations and the command that
/// makes it, and one that counts the others; empty where none is missing. `part`: one of those that
/// are there. `there`: the numbers of all that are, ascending.
std::vector<std::string> DescribeMissingShards(const ShardPart& part,
                                               std::span<const int64_t> there);

}  // namespace vernier
