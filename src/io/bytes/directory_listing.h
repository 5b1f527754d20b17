// Names in a directory.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

bool IsDirectory(const std::string& path);

/// Paths of the entries whose names `accept` takes, hidden ones left out, sorted by name.
/// kMalformed when the directory cannot be read.
Result<std::vector<std::string>> ListDirectory(const std::string& path,
                                               const std::function<bool(std::string_view)>& accept);

/// The directory's per-iteration files: "*.json".
Result<std::vector<std::string>> ListJsonFiles(const std::string& path);

}  // namespace vernier
