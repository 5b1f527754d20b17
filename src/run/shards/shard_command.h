// The command of a shard, for people who run it again.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vernier/shard_plan.h"

namespace vernier {

/// The words of a command that has `shard` ("3/7") for --shard, whatever it had before: with 'auto'
/// they would mean something else elsewhere.
std::vector<std::string> WithShard(std::span<const std::string> words, const std::string& shard);

/// "cd DIR && vernier run ... --shard 3/7", quoted for bash. Without a folder there is no `cd`.
std::string CommandOfShard(const std::string& folder, std::span<const std::string> words,
                           const std::string& shard);

/// Which iterations a shard has by stride: ", every 7th".
std::string StrideText(const ShardPlan& shard);

}  // namespace vernier
