#include "io/iteration_directory.h"

#include <filesystem>
#include <system_error>

#include "io/archive_names.h"
#include "util/atomic_file.h"

namespace vernier {

namespace fs = std::filesystem;

Status CreateIterationDirectory(const std::string& path, std::string_view what) {
  const std::string cannot = "Cannot save " + std::string(what) + " to '" + path + "': ";
  std::error_code error;
  if (!fs::exists(path, error)) return CreateDirectories(path);
  if (!fs::is_directory(path, error)) {
    return IoError(cannot +
                   "a file already exists there, but an extensionless path is a directory of "
                   "per-iteration files. Use a path with a file extension to save a single file, "
                   "or a different directory.");
  }
  if (!fs::is_empty(path, error) || error) {
    return IoError(cannot +
                   "the directory is not empty. Per-iteration files require an empty or new "
                   "directory (so nothing is overwritten). Use a different path, or remove its "
                   "contents first.");
  }
  return {};
}

std::string IterationFilePath(const std::string& path, uint64_t iteration) {
  return (fs::path(path) / (IterationText(iteration) + ".json")).string();
}

}  // namespace vernier
