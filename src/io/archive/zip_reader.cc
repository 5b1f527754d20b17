#include "io/archive/zip_reader.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "io/archive/zip_content.h"
#include "io/archive/zip_format.h"

namespace vernier {
namespace {

constexpr uint64_t kMaxGrowth = 1000;
constexpr uint64_t kGrowthExempt = uint64_t{64} << 20;
constexpr size_t kMaxComment = 65535;
constexpr uint64_t kTailSize = kMaxComment + zip::kEndSize + zip::kLocator64Size;
constexpr uint64_t kDirectoryBlock = uint64_t{256} << 10;

template <typename T>
T Load(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

bool Inside(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

Status BadZip(const std::string& member, std::string_view what) {
  return Malformed("member '" + member + "' of the archive " + std::string(what));
}

// Replaces the saturated fields of an entry by those of its ZIP64 extra field, in their fixed
// order.
Status ApplyZip64(std::span<const std::byte> extra, ZipMember& member) {
  const auto saturated = [](uint64_t value) { return value == zip::kMax32; };
  if (!saturated(member.size) && !saturated(member.packed_size) &&
      !saturated(member.header_offset)) {
    return {};
  }
  for (uint64_t position = 0; extra.size() - position >= 4;) {
    const uint64_t length = Load<uint16_t>(extra, position + 2);
    if (!Inside(extra, position + 4, length)) break;
    if (Load<uint16_t>(extra, position) == zip::kZip64Field) {
      const auto field = extra.subspan(position + 4, length);
      uint64_t used = 0;
      for (uint64_t* value : {&member.size, &member.packed_size, &member.header_offset}) {
        if (!saturated(*value)) continue;
        if (!Inside(field, used, 8))
          return BadZip(member.name, "has a ZIP64 field that is too short");
        *value = Load<uint64_t>(field, used);
        used += 8;
      }
      return {};
    }
    position += 4 + length;
  }
  return BadZip(member.name, "lacks its ZIP64 field");
}

Status CheckSizes(const ZipMember& member) {
  if (!member.deflated && member.size != member.packed_size) {
    return BadZip(member.name, "is stored, but has two different sizes");
  }
  if (member.deflated && member.size > kGrowthExempt &&
      member.size / kMaxGrowth > member.packed_size) {
    return BadZip(member.name, "claims to grow from " + std::to_string(member.packed_size) +
                                   " to " + std::to_string(member.size) +
                                   " bytes, more than a thousandfold");
  }
  return {};
}

// Where the directory's end record begins in the last bytes of the file.
std::optional<uint64_t> FindEnd(std::span<const std::byte> tail) {
  const uint64_t searched = std::min<uint64_t>(tail.size(), kMaxComment + zip::kEndSize);
  for (uint64_t back = zip::kEndSize; back <= searched; ++back) {
    const uint64_t offset = tail.size() - back;
    if (Load<uint32_t>(tail, offset) != zip::kEndSignature) continue;
    if (Load<uint16_t>(tail, offset + 20) == back - zip::kEndSize) return offset;
  }
  return std::nullopt;
}

// The archive's directory, a piece of which is in memory at a time.
class DirectoryReader {
 public:
  explicit DirectoryReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // Where the next entry begins.
  uint64_t position() const { return position_; }

  // Some bytes from the position on: `wanted`, or all that are left where that is less.
  Result<std::span<const std::byte>> Peek(uint64_t wanted) {
    if (block_.size() - used_ < wanted && source_->remaining() > 0) VERNIER_TRY(Fill(wanted));
    return std::span<const std::byte>(block_).subspan(used_);
  }

  // Past bytes that Peek() has shown.
  void Skip(uint64_t size) {
    used_ += static_cast<size_t>(size);
    position_ += size;
  }

 private:
  Status Fill(uint64_t wanted) {
    block_.erase(block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    const size_t before = block_.size();
    const uint64_t more = std::max(wanted, kDirectoryBlock) - before;
    block_.resize(before + static_cast<size_t>(std::min(more, source_->remaining())));
    return source_->Read(std::span(block_).subspan(before));
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> block_;
  size_t used_ = 0;
  uint64_t position_ = 0;
};

Result<ZipMember> ParseEntry(std::span<const std::byte> entry, uint64_t name, uint64_t extra) {
  ZipMember member;
  member.name.assign(reinterpret_cast<const char*>(entry.data() + zip::kEntrySize), name);
  if ((Load<uint16_t>(entry, 8) & zip::kEncryptedFlag) != 0) {
    return BadZip(member.name, "is encrypted");
  }
  const uint16_t method = Load<uint16_t>(entry, 10);
  if (method != zip::kStored && method != zip::kDeflated) {
    return BadZip(member.name, "uses compression method " + std::to_string(method) +
                                   "; only stored and deflated members are read");
  }
  member.deflated = method == zip::kDeflated;
  member.crc = Load<uint32_t>(entry, 16);
  member.packed_size = Load<uint32_t>(entry, 20);
  member.size = Load<uint32_t>(entry, 24);
  member.header_offset = Load<uint32_t>(entry, 42);
  VERNIER_TRY(ApplyZip64(entry.subspan(zip::kEntrySize + name, extra), member));
  return member;
}

// The next entry of the directory.
Result<ZipMember> ReadEntry(DirectoryReader& directory) {
  const auto damaged = [&directory] {
    return Malformed("the archive's directory is damaged at its byte " +
                     std::to_string(directory.position()));
  };
  VERNIER_ASSIGN_OR_RETURN(const auto fixed, directory.Peek(zip::kEntrySize));
  if (!Inside(fixed, 0, zip::kEntrySize) || Load<uint32_t>(fixed, 0) != zip::kEntrySignature) {
    return damaged();
  }
  const uint64_t name = Load<uint16_t>(fixed, 28);
  const uint64_t extra = Load<uint16_t>(fixed, 30);
  const uint64_t size = zip::kEntrySize + name + extra + Load<uint16_t>(fixed, 32);
  VERNIER_ASSIGN_OR_RETURN(const auto entry, directory.Peek(size));
  if (!Inside(entry, 0, size)) return damaged();
  Result<ZipMember> member = ParseEntry(entry, name, extra);
  directory.Skip(size);
  return member;
}

}  // namespace

Result<ZipReader> ZipReader::Open(std::shared_ptr<const InputFile> file) {
  ZipReader reader;
  reader.size_ = file->size();
  reader.file_ = std::move(file);
  VERNIER_TRY(reader.ReadStructure());
  return reader;
}

Result<ZipReader> ZipReader::Open(std::span<const std::byte> bytes) {
  ZipReader reader;
  reader.size_ = bytes.size();
  reader.bytes_ = bytes;
  VERNIER_TRY(reader.ReadStructure());
  return reader;
}

std::unique_ptr<ByteSource> ZipReader::SourceOf(uint64_t offset, uint64_t size) const {
  if (file_ != nullptr) return std::make_unique<FileSource>(file_, offset, size);
  return std::make_unique<MemorySource>(
      bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size)));
}

Result<std::vector<std::byte>> ZipReader::ReadRange(uint64_t offset, uint64_t size) const {
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  VERNIER_TRY(SourceOf(offset, size)->Read(bytes));
  return bytes;
}

Status ZipReader::ReadStructure() {
  VERNIER_ASSIGN_OR_RETURN(const Directory directory, FindDirectory());
  VERNIER_TRY(ReadDirectory(directory));
  return CheckRanges();
}

Result<ZipReader::Directory> ZipReader::FindDirectory() const {
  const uint64_t tail_size = std::min<uint64_t>(size_, kTailSize);
  const uint64_t tail_offset = size_ - tail_size;
  VERNIER_ASSIGN_OR_RETURN(const auto tail, ReadRange(tail_offset, tail_size));
  const auto end = FindEnd(tail);
  if (!end) {
    return Malformed("the archive has no directory at its end: it is cut short or no ZIP file");
  }
  Directory directory;
  directory.count = Load<uint16_t>(tail, *end + 10);
  directory.size = Load<uint32_t>(tail, *end + 12);
  directory.offset = Load<uint32_t>(tail, *end + 16);
  const bool split = Load<uint16_t>(tail, *end + 4) != Load<uint16_t>(tail, *end + 6) ||
                     Load<uint16_t>(tail, *end + 8) != directory.count;
  if (split) return Malformed("the archive spans several disks");
  uint64_t limit = tail_offset + *end;
  if (directory.count == zip::kMax16 || directory.size == zip::kMax32 ||
      directory.offset == zip::kMax32) {
    const bool located =
        *end >= zip::kLocator64Size &&
        Load<uint32_t>(tail, *end - zip::kLocator64Size) == zip::kLocator64Signature;
    limit = located ? Load<uint64_t>(tail, *end - zip::kLocator64Size + 8) : size_;
    std::vector<std::byte> record;
    if (limit <= size_ && size_ - limit >= zip::kEnd64Size) {
      VERNIER_ASSIGN_OR_RETURN(record, ReadRange(limit, zip::kEnd64Size));
    }
    if (record.empty() || Load<uint32_t>(record, 0) != zip::kEnd64Signature) {
      return Malformed("the archive lacks its ZIP64 directory record");
    }
    directory.count = Load<uint64_t>(record, 32);
    directory.size = Load<uint64_t>(record, 40);
    directory.offset = Load<uint64_t>(record, 48);
  }
  if (directory.offset > limit || directory.size > limit - directory.offset) {
    return Malformed("the archive's directory lies outside of the file");
  }
  return directory;
}

Status ZipReader::ReadDirectory(const Directory& directory) {
  if (directory.count > directory.size / zip::kEntrySize) {
    return Malformed("the archive claims " + std::to_string(directory.count) +
                     " members, more than its directory can hold");
  }
  if (directory.size > zip::kMostText) {
    return Malformed("the archive's directory has " + std::to_string(directory.size) +
                     " bytes; at most 1 GiB is read");
  }
  DirectoryReader entries(SourceOf(directory.offset, directory.size));
  names_.Reserve(static_cast<size_t>(directory.count));
  places_.reserve(static_cast<size_t>(directory.count));
  for (uint64_t i = 0; i < directory.count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(ZipMember member, ReadEntry(entries));
    VERNIER_TRY(CheckSizes(member));
    VERNIER_TRY(ReadLocalHeader(member, directory.offset));
    names_.Add(member.name);
    places_.push_back({.packed_size = member.packed_size,
                       .size = member.size,
                       .header_offset = member.header_offset,
                       .data_offset = member.data_offset,
                       .crc = member.crc,
                       .deflated = member.deflated});
  }
  const std::optional<size_t> twice = names_.Finish();
  return twice ? BadZip(NameOf(*twice), "is there twice") : Status();
}

ZipMember ZipReader::Member(size_t index) const {
  const Place& place = places_[index];
  return {.name = NameOf(index),
          .deflated = place.deflated,
          .crc = place.crc,
          .packed_size = place.packed_size,
          .size = place.size,
          .header_offset = place.header_offset,
          .data_offset = place.data_offset};
}

Status ZipReader::ReadLocalHeader(ZipMember& member, uint64_t end) const {
  const auto inside = [end](uint64_t offset, uint64_t size) {
    return offset <= end && size <= end - offset;
  };
  // Together with the name that is expected behind it, which saves a second reading.
  const uint64_t wanted = zip::kLocalSize + member.name.size();
  std::vector<std::byte> data;
  if (inside(member.header_offset, zip::kLocalSize)) {
    VERNIER_ASSIGN_OR_RETURN(
        data, ReadRange(member.header_offset, std::min(wanted, end - member.header_offset)));
  }
  if (data.empty() || Load<uint32_t>(data, 0) != zip::kLocalSignature) {
    return BadZip(member.name, "has no header where the directory says");
  }
  const uint64_t name = Load<uint16_t>(data, 26);
  const uint64_t extra = Load<uint16_t>(data, 28);
  const uint64_t header = member.header_offset + zip::kLocalSize;
  member.data_offset = header + name + extra;
  if (!inside(header, name + extra) || !inside(member.data_offset, member.packed_size)) {
    return BadZip(member.name, "ends beyond the file");
  }
  const bool same = name == member.name.size() &&
                    std::memcmp(data.data() + zip::kLocalSize, member.name.data(), name) == 0;
  return same ? Status() : BadZip(member.name, "has another name in its own header");
}

Status ZipReader::CheckRanges() const {
  std::vector<uint32_t> sorted(places_.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::sort(sorted.begin(), sorted.end(), [this](uint32_t a, uint32_t b) {
    return places_[a].header_offset < places_[b].header_offset;
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const Place& before = places_[sorted[i - 1]];
    if (before.data_offset + before.packed_size > places_[sorted[i]].header_offset) {
      return BadZip(NameOf(sorted[i]), "overlaps '" + NameOf(sorted[i - 1]) + "'");
    }
  }
  return {};
}

Result<std::unique_ptr<ZipContent>> ZipReader::OpenMember(const ZipMember& member) const {
  return OpenZipContent(member, SourceOf(member.data_offset, member.packed_size));
}

Status ZipReader::CheckTextSize(const ZipMember& member) {
  return member.size > zip::kMostText ? BadZip(member.name, "has more than 1 GiB") : Status();
}

Result<std::string> ZipReader::ReadText(const ZipMember& member) const {
  VERNIER_TRY(CheckTextSize(member));
  std::string text(static_cast<size_t>(member.size), '\0');
  VERNIER_ASSIGN_OR_RETURN(const auto content, OpenMember(member));
  VERNIER_TRY(content->Read(std::as_writable_bytes(std::span(text.data(), text.size()))));
  VERNIER_TRY(content->Finish());
  return text;
}

}  // namespace vernier
