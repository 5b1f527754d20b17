// The files of shards while they are being written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/part_file.h"
#include "record/shards/shard_lines.h"
#include "vernier/status.h"

namespace vernier {

/// The files beside `whole` that its shards are writing, or have left when they were killed,
/// sorted. Empty where the folder cannot be read.
std::vector<std::string> FindBegunParts(const std::string& whole);

/// The part at `path`, made just now, is in use as long as `fd` is open. False: another process
/// took it for a killed one's before this was known, and has removed it or is about to.
bool HoldBegunPart(int fd, const std::string& path);

/// A new part of the file at `path`, held: at PATH.partial or, where something is there, the next
/// free name. `place` is set to it. kIo.
Result<PartFile> BeginPart(const std::string& path, std::string& place);

/// Removes what killed processes have left of the shard's file at `path`, which is whole now. Where
/// a file system knows no locks, nothing is known to be left.
void RemoveLeftParts(const std::string& path);

/// Reads what is there by now: `head` is called first, unless it is not written yet, and then
/// `iteration` for each whole line of one, in order. Gives the time of the last write in
/// milliseconds since 1970. kMalformed for what is no part, and the errors of the two. A file that
/// grows meanwhile is none.
Result<int64_t> ReadBegunPart(const std::string& path,
                              const std::function<Status(const ShardHead&)>& head,
                              const std::function<Status(std::string_view)>& iteration);

}  // namespace vernier
