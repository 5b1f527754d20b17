// Directories of per-iteration files: 0000000000.json, 0000000001.json, ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vernier/status.h"

namespace vernier {

/// Creates the directory `path`. kIo, in the peer's words, when a file is in the way or the
/// directory is not empty. `what` is what will be saved there: "inference results".
Status CreateIterationDirectory(const std::string& path, std::string_view what);

/// "path/0000000012.json".
std::string IterationFilePath(const std::string& path, uint64_t iteration);

}  // namespace vernier
