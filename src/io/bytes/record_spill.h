// A list of small records that waits on the disk once it has grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "io/bytes/part_file.h"
#include "vernier/status.h"

namespace vernier {

/// Memory does not grow with the number of records: what does not fit into a small buffer goes into
/// a file without a name, which is gone with the object, however the process ends. Where that file
/// cannot be made or written the records stay in memory: a full disk loses none of them.
class RecordSpill {
 public:
  /// The file, if one is needed, is made in `directory`.
  explicit RecordSpill(std::string directory) : directory_(std::move(directory)) {}

  size_t size() const { return mark_.records; }

  /// `record` has less than 4 GiB.
  void Append(std::string_view record);

  /// A state to come back to.
  struct Mark {
    size_t records = 0;
    uint64_t bytes = 0;
  };
  Mark mark() const { return mark_; }

  /// Forgets what was appended since the mark. kIo.
  Status Truncate(const Mark& mark);

  /// Calls `use` with each record in turn until it fails. kIo when the file cannot be read.
  Status ForEach(const std::function<Status(std::string_view)>& use) const;

 private:
  void MoveToDisk();

  std::string directory_;
  Mark mark_;
  std::string buffer_;  // what is beyond the file's end
  std::optional<PartFile> file_;
  uint64_t on_disk_ = 0;
  bool no_file_ = false;
};

}  // namespace vernier
