// Questions about paths that no file needs to be opened for.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace vernier {

/// Whether the path is the folder or something below it. Both are absolute and normal.
inline bool LiesWithin(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const std::filesystem::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// From the root, without what leads nowhere; the path itself where there is no working folder.
inline std::string AbsolutePath(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return ignored ? path : absolute.lexically_normal().string();
}

}  // namespace vernier
