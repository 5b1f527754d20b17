// ZIP archives as NumPy's .npz files are: stored or deflated members, ZIP64 where needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vernier/status.h"

namespace vernier {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  uint64_t header_offset = 0;
  uint64_t data_offset = 0;
};

/// A member's bytes and what keeps them alive.
struct ZipContent {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class ZipReader {
 public:
  /// Reads the directory at the end of `bytes`, which `owner` keeps alive. kMalformed, naming the
  /// member, for archives that are cut short, span disks, or have encrypted, overlapping or
  /// duplicate members or other compression, and for members that claim to grow more than a
  /// thousandfold to more than 64 MiB.
  static Result<ZipReader> Open(std::span<const std::byte> bytes,
                                std::shared_ptr<const void> owner);

  const std::vector<ZipMember>& members() const { return members_; }

  /// A stored member in place, or a deflated one in new memory. kMalformed when the checksum or
  /// the size is not the declared one; kInternal when memory cannot be had.
  Result<ZipContent> Read(const ZipMember& member) const;

 private:
  struct Directory {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t count = 0;
  };

  Result<uint64_t> FindEnd() const;
  Result<Directory> FindDirectory() const;
  Status ReadDirectory(const Directory& directory);
  Result<ZipMember> ReadEntry(uint64_t& position, uint64_t end) const;
  Status ReadLocalHeader(ZipMember& member, uint64_t end) const;
  Status CheckRanges() const;

  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::vector<ZipMember> members_;
};

}  // namespace vernier
