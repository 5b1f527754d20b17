#include "io/bytes/directory_listing.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace vernier {

namespace fs = std::filesystem;

bool IsDirectory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path) {
  std::vector<DirectoryEntry> entries;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with('.')) entries.push_back({std::move(name), it->is_directory(ignored)});
  }
  if (error) return Malformed("directory '" + path + "' cannot be read: " + error.message());
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

std::vector<std::string> PathsIn(const std::string& path,
                                 const std::vector<DirectoryEntry>& entries,
                                 const std::function<bool(std::string_view)>& accept) {
  std::vector<std::string> paths;
  for (const DirectoryEntry& entry : entries) {
    if (accept(entry.name)) paths.push_back((fs::path(path) / entry.name).string());
  }
  return paths;
}

Result<std::vector<std::string>> ListDirectory(
    const std::string& path, const std::function<bool(std::string_view)>& accept) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.starts_with('.') && accept(name)) names.push_back(std::move(name));
  }
  if (error) return Malformed("directory '" + path + "' cannot be read: " + error.message());
  std::sort(names.begin(), names.end());
  for (std::string& name : names) name = (fs::path(path) / name).string();
  return names;
}

Result<std::vector<std::string>> ExpandPattern(const std::string& path) {
  std::error_code ignored;
  const bool is_pattern = path.find_first_of("*?[") != std::string::npos;
  if (!is_pattern || fs::exists(path, ignored)) return std::vector{path};
  glob_t found = {};
  const int failed = ::glob(path.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (failed == GLOB_NOMATCH)
    return Malformed("'" + path + "' does not exist, and no file fits it");
  if (failed != 0) return Malformed("'" + path + "' cannot be looked up in its folder");
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::vector<std::string>> ListJsonFiles(const std::string& path) {
  return ListDirectory(path, [](std::string_view name) { return name.ends_with(".json"); });
}

Result<std::vector<std::string>> ListSavedFiles(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries, ReadDirectory(path));
  return SavedFilesIn(path, entries);
}

Result<std::vector<std::string>> SavedFilesIn(const std::string& path,
                                              const std::vector<DirectoryEntry>& entries) {
  const auto ending = [&](std::string_view end) {
    return PathsIn(path, entries, [end](std::string_view name) { return name.ends_with(end); });
  };
  std::vector<std::string> json = ending(".json");
  if (!json.empty()) return json;
  std::vector<std::string> npz = ending(".npz"), safetensors = ending(".safetensors");
  if (!npz.empty() && !safetensors.empty()) {
    return Malformed("directory '" + path +
                     "' has both '*.npz' and '*.safetensors' files, and only one kind can be read:"
                     " name the files to read");
  }
  return npz.empty() ? safetensors : npz;
}

}  // namespace vernier
