// What parts were computed with.
#pragma once

#include <string>
#include <vector>

#include "run/shards/shard_parts.h"
#include "util/log.h"
#include "vernier/status.h"

namespace vernier {

/// The same bits are promised for the same build of vernier, framework, device, precision, number
/// of threads and versions of Python packages. kMalformed where parts differ in one of these; with
/// `mixed` that is a note, and a warning where this program is another build than theirs. Always
/// kMalformed where Python workers have imported other modules of the same name.
Status CheckMachines(const std::vector<ShardPart>& parts, bool mixed,
                     std::vector<std::string>& notes, Logger& logger);

}  // namespace vernier
