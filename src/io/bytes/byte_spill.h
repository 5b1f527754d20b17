// Pieces of bytes that wait on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "io/bytes/part_file.h"
#include "vernier/status.h"

namespace vernier {

/// They lie in a file without a name, which is gone with the object, however the process ends.
/// Where that file cannot be made or written they stay in memory: a full disk loses none of them.
class ByteSpill {
 public:
  class Piece {
   public:
    size_t size() const { return size_; }

   private:
    friend class ByteSpill;
    uint64_t offset_ = 0;
    size_t size_ = 0;
    std::optional<std::string> kept_;  // what is not in the file
  };

  /// The file, if one is needed, is made in `directory`.
  explicit ByteSpill(std::string directory) : directory_(std::move(directory)) {}

  Piece Append(std::string bytes);

  /// kIo when the file cannot be read.
  Result<std::string> Read(const Piece& piece) const;

 private:
  std::string directory_;
  std::optional<PartFile> file_;
  bool no_file_ = false;
};

}  // namespace vernier
