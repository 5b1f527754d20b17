// Whether a file is still the one that was written.
#pragma once

#include <sys/stat.h>

#include <ctime>
#include <optional>
#include <string>

namespace vernier::trt {

/// A file as it stood at one moment: whoever replaces or writes it makes it another one.
struct FileState {
  std::string path;
  ino_t node = 0;
  off_t size = 0;
  time_t seconds = 0;  ///< of its last change
  long nanoseconds = 0;

  bool operator==(const FileState&) const = default;

  /// nullopt where there is none.
  static std::optional<FileState> Of(const std::string& path) {
    struct stat found = {};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return FileState{path, found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec};
  }
};

}  // namespace vernier::trt
