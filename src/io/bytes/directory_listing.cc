#include "io/bytes/directory_listing.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace vernier {

namespace fs = std::filesystem;

bool IsDirectory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
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

Result<std::vector<std::string>> ListJsonFiles(const std::string& path) {
  return ListDirectory(path, [](std::string_view name) { return name.ends_with(".json"); });
}

}  // namespace vernier
