// Why parts do not belong together.
#pragma once

#include <string>

#include "record/shards/shard_lines.h"

namespace vernier {

/// What tells the run of one part from that of another, with both values and the names of both
/// parts, as a sentence without its full stop. Empty: they are parts of one run.
std::string DifferenceOfHeads(const ShardHead& a, const ShardHead& b, const std::string& a_path,
                              const std::string& b_path);

/// 16 hexadecimal digits that are the same for the parts of one run, by what DifferenceOfHeads()
/// compares but for the number of shards and the version.
std::string HashOfRun(const ShardHead& head);

}  // namespace vernier
