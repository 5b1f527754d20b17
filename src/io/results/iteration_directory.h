// Directories of per-iteration files: 0000000000.json, 0000000001.json, ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// Whether there is anything in a directory but what killed writes left of files. True also where
/// that is not known.
bool HoldsFiles(const std::string& path);

/// Creates the directory `path`. kIo, in Polygraphy's words, when a file is in the way or the
/// directory is not empty. `what` is what will be saved there: "inference results".
Status CreateIterationDirectory(const std::string& path, std::string_view what);

/// How many iterations the directory holds, 0 if there is none. kIo, as CreateIterationDirectory,
/// when it holds anything else but 0000000000.json, 0000000001.json, ... without a gap.
Result<uint64_t> CountIterations(const std::string& path, std::string_view what);

/// "path/0000000012.json".
std::string IterationFilePath(const std::string& path, uint64_t iteration);

/// The numbers of the directory's per-iteration files, ascending. Empty where other "*.json" files
/// lie there too, whose order is that of their names, and where it cannot be read.
std::vector<int64_t> SavedIterations(const std::string& path);

}  // namespace vernier
