#include "io/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_set>
#include <utility>

#include "io/zip_format.h"

namespace vernier {
namespace {

constexpr uint64_t kMaxGrowth = 1000;
constexpr uint64_t kGrowthExempt = uint64_t{64} << 20;
constexpr size_t kMaxComment = 65535;

template <typename T>
T Load(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

bool Inside(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

Status Bad(const std::string& member, std::string_view what) {
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
        if (!Inside(field, used, 8)) return Bad(member.name, "has a ZIP64 field that is too short");
        *value = Load<uint64_t>(field, used);
        used += 8;
      }
      return {};
    }
    position += 4 + length;
  }
  return Bad(member.name, "lacks its ZIP64 field");
}

Status CheckSizes(const ZipMember& member) {
  if (!member.deflated && member.size != member.packed_size) {
    return Bad(member.name, "is stored, but has two different sizes");
  }
  if (member.deflated && member.size > kGrowthExempt &&
      member.size / kMaxGrowth > member.packed_size) {
    return Bad(member.name, "claims to grow from " + std::to_string(member.packed_size) + " to " +
                                std::to_string(member.size) + " bytes, more than a thousandfold");
  }
  return {};
}

Status Inflate(const ZipMember& member, std::span<const std::byte> packed, std::byte* out) {
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Internal("zlib cannot be initialised");
  constexpr uint64_t kStep = uint64_t{1} << 30;
  uint64_t read = 0;
  uint64_t written = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data() + read));
    stream.avail_in = static_cast<uInt>(std::min<uint64_t>(kStep, packed.size() - read));
    stream.next_out = reinterpret_cast<Bytef*>(out + written);
    stream.avail_out = static_cast<uInt>(std::min<uint64_t>(kStep, member.size - written));
    const uInt in = stream.avail_in;
    const uInt space = stream.avail_out;
    code = ::inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += space - stream.avail_out;
  }
  ::inflateEnd(&stream);
  if (code == Z_STREAM_END && written == member.size && read == packed.size()) return {};
  return Bad(member.name, "is damaged: it does not inflate to its declared size");
}

}  // namespace

Result<ZipReader> ZipReader::Open(std::span<const std::byte> bytes,
                                  std::shared_ptr<const void> owner) {
  ZipReader reader;
  reader.bytes_ = bytes;
  reader.owner_ = std::move(owner);
  VERNIER_ASSIGN_OR_RETURN(const Directory directory, reader.FindDirectory());
  VERNIER_TRY(reader.ReadDirectory(directory));
  VERNIER_TRY(reader.CheckRanges());
  return reader;
}

Result<uint64_t> ZipReader::FindEnd() const {
  const uint64_t searched = std::min<uint64_t>(bytes_.size(), kMaxComment + zip::kEndSize);
  for (uint64_t back = zip::kEndSize; back <= searched; ++back) {
    const uint64_t offset = bytes_.size() - back;
    if (Load<uint32_t>(bytes_, offset) != zip::kEndSignature) continue;
    if (Load<uint16_t>(bytes_, offset + 20) == back - zip::kEndSize) return offset;
  }
  return Malformed("the archive has no directory at its end: it is cut short or no ZIP file");
}

Result<ZipReader::Directory> ZipReader::FindDirectory() const {
  VERNIER_ASSIGN_OR_RETURN(const uint64_t end, FindEnd());
  Directory directory;
  directory.count = Load<uint16_t>(bytes_, end + 10);
  directory.size = Load<uint32_t>(bytes_, end + 12);
  directory.offset = Load<uint32_t>(bytes_, end + 16);
  const bool split = Load<uint16_t>(bytes_, end + 4) != Load<uint16_t>(bytes_, end + 6) ||
                     Load<uint16_t>(bytes_, end + 8) != directory.count;
  if (split) return Malformed("the archive spans several disks");
  uint64_t limit = end;
  if (directory.count == zip::kMax16 || directory.size == zip::kMax32 ||
      directory.offset == zip::kMax32) {
    const uint64_t locator = end - std::min<uint64_t>(end, zip::kLocator64Size);
    const bool located =
        end >= zip::kLocator64Size && Load<uint32_t>(bytes_, locator) == zip::kLocator64Signature;
    const uint64_t end64 = located ? Load<uint64_t>(bytes_, locator + 8) : 0;
    const bool found = located && Inside(bytes_, end64, zip::kEnd64Size) &&
                       Load<uint32_t>(bytes_, end64) == zip::kEnd64Signature;
    if (!found) return Malformed("the archive lacks its ZIP64 directory record");
    directory.count = Load<uint64_t>(bytes_, end64 + 32);
    directory.size = Load<uint64_t>(bytes_, end64 + 40);
    directory.offset = Load<uint64_t>(bytes_, end64 + 48);
    limit = end64;
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
  std::unordered_set<std::string> names;
  uint64_t position = directory.offset;
  members_.reserve(static_cast<size_t>(directory.count));
  for (uint64_t i = 0; i < directory.count; ++i) {
    VERNIER_ASSIGN_OR_RETURN(ZipMember member,
                             ReadEntry(position, directory.offset + directory.size));
    VERNIER_TRY(CheckSizes(member));
    VERNIER_TRY(ReadLocalHeader(member, directory.offset));
    if (!names.insert(member.name).second) return Bad(member.name, "is there twice");
    members_.push_back(std::move(member));
  }
  return {};
}

Result<ZipMember> ZipReader::ReadEntry(uint64_t& position, uint64_t end) const {
  const auto entry = bytes_.first(static_cast<size_t>(end));
  if (!Inside(entry, position, zip::kEntrySize) ||
      Load<uint32_t>(entry, position) != zip::kEntrySignature) {
    return Malformed("the archive's directory is damaged at byte " + std::to_string(position));
  }
  const uint64_t name = Load<uint16_t>(entry, position + 28);
  const uint64_t extra = Load<uint16_t>(entry, position + 30);
  const uint64_t comment = Load<uint16_t>(entry, position + 32);
  if (!Inside(entry, position + zip::kEntrySize, name + extra + comment)) {
    return Malformed("the archive's directory is damaged at byte " + std::to_string(position));
  }
  ZipMember member;
  const uint64_t text = position + zip::kEntrySize;
  member.name.assign(reinterpret_cast<const char*>(entry.data() + text), name);
  if ((Load<uint16_t>(entry, position + 8) & zip::kEncryptedFlag) != 0) {
    return Bad(member.name, "is encrypted");
  }
  const uint16_t method = Load<uint16_t>(entry, position + 10);
  if (method != zip::kStored && method != zip::kDeflated) {
    return Bad(member.name, "uses compression method " + std::to_string(method) +
                                "; only stored and deflated members are read");
  }
  member.deflated = method == zip::kDeflated;
  member.crc = Load<uint32_t>(entry, position + 16);
  member.packed_size = Load<uint32_t>(entry, position + 20);
  member.size = Load<uint32_t>(entry, position + 24);
  member.header_offset = Load<uint32_t>(entry, position + 42);
  VERNIER_TRY(ApplyZip64(entry.subspan(text + name, extra), member));
  position = text + name + extra + comment;
  return member;
}

Status ZipReader::ReadLocalHeader(ZipMember& member, uint64_t end) const {
  const auto data = bytes_.first(static_cast<size_t>(end));
  if (!Inside(data, member.header_offset, zip::kLocalSize) ||
      Load<uint32_t>(data, member.header_offset) != zip::kLocalSignature) {
    return Bad(member.name, "has no header where the directory says");
  }
  const uint64_t name = Load<uint16_t>(data, member.header_offset + 26);
  const uint64_t extra = Load<uint16_t>(data, member.header_offset + 28);
  const uint64_t header = member.header_offset + zip::kLocalSize;
  member.data_offset = header + name + extra;
  if (!Inside(data, header, name + extra) ||
      !Inside(data, member.data_offset, member.packed_size)) {
    return Bad(member.name, "ends beyond the file");
  }
  const bool same = name == member.name.size() &&
                    std::memcmp(data.data() + header, member.name.data(), name) == 0;
  return same ? Status() : Bad(member.name, "has another name in its own header");
}

Status ZipReader::CheckRanges() const {
  std::vector<const ZipMember*> sorted;
  for (const ZipMember& member : members_) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(), [](const ZipMember* a, const ZipMember* b) {
    return a->header_offset < b->header_offset;
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const ZipMember& before = *sorted[i - 1];
    if (before.data_offset + before.packed_size > sorted[i]->header_offset) {
      return Bad(sorted[i]->name, "overlaps '" + before.name + "'");
    }
  }
  return {};
}

Result<ZipContent> ZipReader::Read(const ZipMember& member) const {
  ZipContent content;
  const auto packed = bytes_.subspan(static_cast<size_t>(member.data_offset),
                                     static_cast<size_t>(member.packed_size));
  if (member.deflated) {
    const std::shared_ptr<std::byte> memory(
        static_cast<std::byte*>(::operator new (static_cast<size_t>(member.size) + 1,
                                                std::align_val_t{64}, std::nothrow)),
        [](std::byte* p) { ::operator delete (p, std::align_val_t{64}); });
    if (memory == nullptr) return Internal("out of memory for '" + member.name + "'");
    VERNIER_TRY(Inflate(member, packed, memory.get()));
    content = {{memory.get(), static_cast<size_t>(member.size)}, memory};
  } else {
    content = {packed, owner_};
  }
  const auto* data = reinterpret_cast<const Bytef*>(content.bytes.data());
  if (::crc32_z(0, data, content.bytes.size()) != member.crc) {
    return Bad(member.name, "is damaged: its checksum differs");
  }
  return content;
}

}  // namespace vernier
