// ZIP archives as NumPy's .npz files are: stored or deflated members, ZIP64 where needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/archive/archive_name_table.h"
#include "io/bytes/byte_source.h"
#include "util/files/input_file.h"
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

/// The content of a member, inflated where it is deflated, a block at a time.
class ZipContent : public ByteSource {
 public:
  /// After the last Read: reads what is left. kMalformed when checksum or size are not the declared
  /// ones.
  virtual Status Finish() = 0;
};

class ZipReader {
 public:
  /// Reads the directory at the end of the file. kMalformed, naming the member, for archives that
  /// are cut short, span disks, or have encrypted, overlapping or duplicate members or other
  /// compression, for members that claim to grow more than a thousandfold to more than 64 MiB, and
  /// for directories of more than 1 GiB.
  static Result<ZipReader> Open(std::shared_ptr<const InputFile> file);

  /// The same from memory, which must outlive the object.
  static Result<ZipReader> Open(std::span<const std::byte> bytes);

  /// In the directory's order.
  size_t size() const { return places_.size(); }
  std::string NameOf(size_t index) const { return names_.Text(index); }
  ZipMember Member(size_t index) const;

  /// The member's content from its beginning.
  Result<std::unique_ptr<ZipContent>> OpenMember(const ZipMember& member) const;

  /// kMalformed for a member that is too large for a text: of more than 1 GiB.
  static Status CheckTextSize(const ZipMember& member);

  /// All of a member that passes CheckTextSize(), checked.
  Result<std::string> ReadText(const ZipMember& member) const;

 private:
  struct Directory {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t count = 0;
  };

  // A member without its name. There may be very many.
  struct Place {
    uint64_t packed_size;
    uint64_t size;
    uint64_t header_offset;
    uint64_t data_offset;
    uint32_t crc;
    bool deflated;
  };

  Result<std::vector<std::byte>> ReadRange(uint64_t offset, uint64_t size) const;
  std::unique_ptr<ByteSource> SourceOf(uint64_t offset, uint64_t size) const;
  Status ReadStructure();
  Result<Directory> FindDirectory() const;
  Status ReadDirectory(const Directory& directory);
  Status ReadLocalHeader(ZipMember& member, uint64_t end) const;
  Status CheckRanges() const;

  std::shared_ptr<const InputFile> file_;  // or else in memory
  std::span<const std::byte> bytes_;
  uint64_t size_ = 0;
  ArchiveNameTable names_;
  std::vector<Place> places_;  // parallel to names_
};

}  // namespace vernier
