// Questions about paths that no file needs to be opened for.
#pragma once

#include <cstdlib>
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

/// Where a file of this name is or will be: from the root, through all links, one that leads to
/// nothing yet included. Two names of one file have one place. Where that cannot be known, as of a
/// ring of links, AbsolutePath().
inline std::filesystem::path PlaceOfFile(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;
  std::error_code failed;
  fs::path place = fs::weakly_canonical(fs::absolute(path, failed), failed);
  for (int links = 0; !failed && links < kMostLinks; ++links) {
    std::error_code no_link;
    const fs::path target = fs::read_symlink(place, no_link);
    if (no_link) return place;
    place = fs::weakly_canonical(place.parent_path() / target, failed);
  }
  return AbsolutePath(path);
}

/// Where the user's programs keep what they can make again: a folder of vernier's own, which need
/// not exist. Empty where neither XDG_CACHE_HOME nor HOME is an absolute path.
inline std::string UserCacheFolder() {
  const char* const caches = std::getenv("XDG_CACHE_HOME");
  if (caches != nullptr && *caches == '/') return std::string(caches) + "/vernier";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/vernier" : "";
}

}  // namespace vernier
