// Questions about paths that no file needs to be opened for.
#pragma once

#include <filesystem>

namespace vernier {

/// Whether the path is the folder or something below it. Both are absolute and normal.
inline bool LiesWithin(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const std::filesystem::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace vernier
