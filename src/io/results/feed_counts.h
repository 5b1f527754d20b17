// How many feeds each of many files holds, kept from one process to the next: a shard that begins
// in the middle need not open all files before it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace vernier {

/// Of fewer files nothing is kept: they are opened in no time.
inline constexpr size_t kFewestFilesToKeep = 64;

/// Files as they are at this moment.
struct FilesMark {
  std::string text;      ///< of the disk, number, size and times of each; empty: one is not there
  bool settled = false;  ///< a change from now on would show in its times
};
FilesMark MarkFiles(const std::vector<std::string>& files);

/// What KeepFeedCounts() has kept in `folder` for these files with this mark; else nullopt.
std::optional<std::vector<size_t>> KnownFeedCounts(const std::string& folder,
                                                   const std::vector<std::string>& files,
                                                   const FilesMark& mark);

/// Keeps them, in a file that appears complete or not at all, so that processes may do this at the
/// same time; `mark` was taken before they were counted. Does nothing where that fails, and for a
/// mark that is not settled.
void KeepFeedCounts(const std::string& folder, const std::vector<std::string>& files,
                    const FilesMark& mark, const std::vector<size_t>& counts);

}  // namespace vernier
