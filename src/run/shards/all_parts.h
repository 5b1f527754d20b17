// What all parts of a run hold, gathered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/shards/shard_lines.h"
#include "run/parts/shard_parts.h"
#include "vernier/status.h"

namespace vernier {

using Parts = std::vector<ShardPart>;

/// Of shards, ascending, each once.
std::vector<int64_t> NumbersIn(const Parts& parts);

/// What all of them say alike; what runners are is not known to shards whose images were all
/// skipped.
const ShardEnd& EndOf(const Parts& parts);

/// kMalformed where outputs met by their shapes in one part, and others or none in another: the
/// undivided run goes by its first iteration.
Status CheckSamePairing(const Parts& parts);

/// Who did them, by their numbers; a shard that was done twice is there twice, a copy of a
/// part is not.
std::vector<ShardRecord> ShardsIn(const Parts& parts);
std::vector<ShardFlips> FlipsIn(const Parts& parts);
/// Each with all shards of all parts, sorted.
std::vector<ShardMadeWith> MadeWithIn(const Parts& parts);
/// Of each shard once. kMalformed, naming both parts, where two have other ones of the same shard.
Result<std::vector<ShardErrors>> ErrorsIn(const Parts& parts);
/// Each note of one of their lists once, in the order of the parts.
std::vector<std::string> GatherNotes(const Parts& parts, std::vector<std::string> ShardEnd::*list);

/// Of all parts, as far as they do not add up iteration by iteration.
ShardEnd GatherEnds(const Parts& parts);

}  // namespace vernier
