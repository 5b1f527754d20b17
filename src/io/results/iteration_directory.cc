#include "io/results/iteration_directory.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "io/archive/archive_names.h"
#include "io/bytes/directory_listing.h"
#include "util/files/atomic_file.h"
#include "util/text/number_text.h"

namespace vernier {

namespace fs = std::filesystem;

bool HoldsFiles(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(".tmp")) return true;
  }
  return static_cast<bool>(error);
}

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
  if (HoldsFiles(path)) {
    return IoError(cannot +
                   "the directory is not empty. Per-iteration files require an empty or new "
                   "directory (so nothing is overwritten). Use a different path, or remove its "
                   "contents first.");
  }
  return {};
}

Result<uint64_t> CountIterations(const std::string& path, std::string_view what) {
  if (!IsDirectory(path)) return uint64_t{0};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                           ListDirectory(path, [](std::string_view) { return true; }));
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i] != IterationFilePath(path, i)) return CreateIterationDirectory(path, what);
  }
  return uint64_t{files.size()};
}

std::string IterationFilePath(const std::string& path, uint64_t iteration) {
  return (fs::path(path) / (IterationText(iteration) + ".json")).string();
}

std::vector<int64_t> SavedIterations(const std::string& path) {
  const Result<std::vector<std::string>> files = ListJsonFiles(path);
  std::vector<int64_t> numbers;
  if (!files.ok()) return numbers;
  for (const std::string& file : *files) {
    const std::optional<int64_t> number = ParseInt(fs::path(file).stem().string());
    if (!number || *number < 0 || file != IterationFilePath(path, static_cast<uint64_t>(*number))) {
      return {};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace vernier
