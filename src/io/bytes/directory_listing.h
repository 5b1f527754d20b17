// Names in a directory.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

bool IsDirectory(const std::string& path);

struct DirectoryEntry {
  std::string name;
  bool folder = false;  ///< or a link to one
};

/// All entries but hidden ones, sorted by name: for those who ask several things of a directory
/// that may hold very many. kMalformed when it cannot be read.
Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path);

/// Paths of those of `entries`, which the directory `path` has, whose names `accept` takes.
std::vector<std::string> PathsIn(const std::string& path,
                                 const std::vector<DirectoryEntry>& entries,
                                 const std::function<bool(std::string_view)>& accept);

/// Paths of the entries whose names `accept` takes, hidden ones left out, sorted by name.
/// kMalformed when the directory cannot be read.
Result<std::vector<std::string>> ListDirectory(const std::string& path,
                                               const std::function<bool(std::string_view)>& accept);

/// The paths that a pattern of the shell (*, ?, [...]) stands for, sorted. What exists under that
/// very name, and what has none of these characters, stands for itself. kMalformed where nothing
/// fits the pattern, or a folder of it cannot be read.
Result<std::vector<std::string>> ExpandPattern(const std::string& path);

/// The directory's per-iteration files: "*.json".
Result<std::vector<std::string>> ListJsonFiles(const std::string& path);

/// The same or, where there is none, the directory's "*.npz" or "*.safetensors" files. kMalformed
/// where it has both of these: which of them are meant is not known.
Result<std::vector<std::string>> ListSavedFiles(const std::string& path);
Result<std::vector<std::string>> SavedFilesIn(const std::string& path,
                                              const std::vector<DirectoryEntry>& entries);

}  // namespace vernier
