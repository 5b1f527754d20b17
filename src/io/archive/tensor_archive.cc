#include "io/archive/tensor_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/archive/npy.h"
#include "io/archive/safetensors.h"
#include "io/archive/zip_content.h"
#include "io/archive/zip_reader.h"
#include "io/bytes/raw_tensor.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr std::string_view kNpy = ".npy";

// CRC-32 as ZIP has it (ISO 3309), each thread's share of the bytes at once.
uint32_t Crc32(std::span<const std::byte> bytes, ThreadPool& threads) {
  constexpr size_t kPartBytes = size_t{4} << 20;
  std::vector<uLong> parts((bytes.size() + kPartBytes - 1) / kPartBytes);
  const auto part = [&](size_t index) {
    return bytes.subspan(index * kPartBytes,
                         std::min(kPartBytes, bytes.size() - index * kPartBytes));
  };
  threads.Run(parts.size(), [&](size_t index, size_t) {
    const std::span<const std::byte> own = part(index);
    parts[index] = ::crc32_z(0, reinterpret_cast<const Bytef*>(own.data()), own.size());
  });
  uLong crc = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    crc = ::crc32_combine(crc, parts[i], static_cast<z_off_t>(part(i).size()));
  }
  return static_cast<uint32_t>(crc);
}

class NpzArchive final : public TensorArchive {
 public:
  Status Load(const std::shared_ptr<const InputFile>& file);

 protected:
  Result<Tensor> ReadStored(size_t index, const StoredType* type) const override {
    VERNIER_ASSIGN_OR_RETURN(const auto content, reader_->OpenMember(MemberOf(index)));
    const auto dtype = type == nullptr ? std::nullopt : std::optional(type->dtype);
    Result<Tensor> tensor = ReadNpy(*content, pool_.get(), dtype);
    // Damage shows itself in many ways; that the checksum differs is the one to report.
    if (Status status = content->Finish(); !status.ok()) return status;
    return tensor;
  }
  std::optional<StoredPlace> PlaceOf(size_t index, const StoredType* type) const override;
  Status CheckStored(size_t index) const override;

 private:
  // Our metadata are among the members, which have other indices behind them.
  ZipMember MemberOf(size_t index) const {
    return reader_->Member(index < metadata_member_ ? index : index + 1);
  }
  Result<ArchiveMetadata> ReadMetadata(const ZipMember& member) const;

  std::optional<ZipReader> reader_;
  size_t metadata_member_ = std::numeric_limits<size_t>::max();
};

Status NpzArchive::Load(const std::shared_ptr<const InputFile>& file) {
  path_ = file->path();
  file_ = file;
  VERNIER_ASSIGN_OR_RETURN(reader_, ZipReader::Open(file));
  names_.Reserve(reader_->size());
  for (size_t i = 0; i < reader_->size(); ++i) {
    const std::string name = reader_->NameOf(i);
    if (name == kNpzMetadataMember) {
      VERNIER_ASSIGN_OR_RETURN(metadata_, ReadMetadata(reader_->Member(i)));
      metadata_member_ = i;
      continue;
    }
    if (!name.ends_with(kNpy)) {
      return Malformed("member '" + name + "' of the archive is not a .npy file");
    }
    names_.Add(std::string_view(name).substr(0, name.size() - kNpy.size()));
  }
  return {};
}

// As it stands in the file where that is possible: it may be as long as all names together.
Result<ArchiveMetadata> NpzArchive::ReadMetadata(const ZipMember& member) const {
  if (member.deflated) {
    VERNIER_ASSIGN_OR_RETURN(const std::string text, reader_->ReadText(member));
    return ReadArchiveMetadata(JsonText(text));
  }
  VERNIER_TRY(ZipReader::CheckTextSize(member));
  VERNIER_ASSIGN_OR_RETURN(const auto content, reader_->OpenMember(member));
  VERNIER_TRY(content->Finish());
  return ReadArchiveMetadata(JsonText(file_, member.data_offset, member.data_offset + member.size));
}

// The header of a stored member; nullopt where there is anything unusual about it.
std::optional<NpyHeader> HeaderOf(const InputFile& file, const ZipMember& member,
                                  uint64_t& preamble) {
  constexpr uint64_t kEnough = 1024;
  std::vector<std::byte> start(static_cast<size_t>(std::min(kEnough, member.size)));
  if (member.deflated || !file.ReadAt(member.data_offset, start).ok()) return std::nullopt;
  const Result<uint64_t> size = NpyPreambleSize(start);
  if (!size.ok() || *size > start.size()) return std::nullopt;
  preamble = *size;
  Result<NpyHeader> header = ParseNpyHeader(start);
  return header.ok() ? std::optional(*std::move(header)) : std::nullopt;
}

std::optional<TensorArchive::StoredPlace> NpzArchive::PlaceOf(size_t index,
                                                              const StoredType* type) const {
  const ZipMember member = MemberOf(index);
  uint64_t preamble = 0;
  const std::optional<NpyHeader> header = HeaderOf(*file_, member, preamble);
  if (!header || header->big_endian || header->kind == 'U' || header->kind == 'S') {
    return std::nullopt;
  }
  if (header->fortran_order && header->shape.size() > 1) return std::nullopt;
  const Result<DType> dtype =
      NpyElementType(*header, type == nullptr ? std::nullopt : std::optional(type->dtype));
  if (!dtype.ok()) return std::nullopt;
  if (static_cast<uint64_t>(BitsOf(*dtype)) != header->item_bytes * 8) return std::nullopt;
  const Result<uint64_t> size = NpyDataSize(*header, member.size - preamble);
  if (!size.ok()) return std::nullopt;
  return StoredPlace{member.data_offset + preamble, *size, *dtype, header->shape};
}

Status NpzArchive::CheckStored(size_t index) const {
  const ZipMember member = MemberOf(index);
  const uint32_t crc = Crc32(MappedBytes(member.data_offset, member.size), pool_->threads());
  return crc == member.crc ? Status() : DamagedMember(member.name, "its checksum differs");
}

class SafetensorsArchive final : public TensorArchive {
 public:
  Status Load(const std::shared_ptr<const InputFile>& file);

 protected:
  Result<Tensor> ReadStored(size_t index, const StoredType* type) const override;
  std::optional<StoredPlace> PlaceOf(size_t index, const StoredType* type) const override;
  Status CheckStored(size_t) const override { return {}; }

 private:
  SafetensorsHeader header_;
};

Status SafetensorsArchive::Load(const std::shared_ptr<const InputFile>& file) {
  path_ = file->path();
  file_ = file;
  VERNIER_ASSIGN_OR_RETURN(header_, ReadSafetensorsHeader(JsonText(file)));
  names_ = std::move(header_.names);
  if (header_.metadata) metadata_ = *std::exchange(header_.metadata, std::nullopt);
  return {};
}

Result<Tensor> SafetensorsArchive::ReadStored(size_t index, const StoredType* type) const {
  const SafetensorsHeader::Place& place = header_.places[index];
  const StoredType& found = type == nullptr ? header_.types[place.type] : *type;
  FileSource source(file_, header_.data_offset + place.begin, place.end - place.begin,
                    &pool_->threads());
  return ReadRawTensor(source, pool_.get(), found.dtype, found.dims);
}

std::optional<TensorArchive::StoredPlace> SafetensorsArchive::PlaceOf(
    size_t index, const StoredType* type) const {
  const SafetensorsHeader::Place& place = header_.places[index];
  const StoredType& found = type == nullptr ? header_.types[place.type] : *type;
  if (found.dtype == DType::kString) return std::nullopt;
  return StoredPlace{header_.data_offset + place.begin, place.end - place.begin, found.dtype,
                     found.dims};
}

template <typename Archive>
Result<std::unique_ptr<TensorArchive>> OpenAs(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto file, InputFile::Open(path));
  auto archive = std::make_unique<Archive>();
  Status status = archive->Load(file);
  if (!status.ok()) return std::move(status).Annotate("'" + path + "'");
  return std::unique_ptr<TensorArchive>(std::move(archive));
}

bool IsFasterMapped(uint64_t begin, uint64_t size, DType dtype) {
  constexpr uint64_t kLarge = uint64_t{256} << 10;
  const auto item_bytes = std::max<uint64_t>(1, static_cast<uint64_t>(BitsOf(dtype)) / 8);
  return size >= kLarge && begin % item_bytes == 0;
}

}  // namespace

Result<std::unique_ptr<TensorArchive>> TensorArchive::Open(const std::string& path,
                                                           ArchiveFormat format) {
  return format == ArchiveFormat::kNpz ? OpenAs<NpzArchive>(path)
                                       : OpenAs<SafetensorsArchive>(path);
}

const StoredType* TensorArchive::TypeOf(size_t index) const {
  return metadata_.types.numbers.empty() ? nullptr : metadata_.types.Find(names_.Text(index));
}

std::span<const std::byte> TensorArchive::MappedBytes(uint64_t begin, uint64_t size) const {
  if (map_ == nullptr) {
    Result<std::shared_ptr<const MappedFile>> map = MappedFile::Map(file_);
    if (!map.ok()) return {};
    map_ = *std::move(map);
  }
  const std::span<const std::byte> bytes = map_->bytes();
  if (begin > bytes.size() || size > bytes.size() - begin) return {};
  return bytes.subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
}

Result<Tensor> TensorArchive::Read(size_t index, ArchiveAccess access) const {
  const std::string where = "'" + path_ + "': tensor '" + names_.Text(index) + "'";
  const StoredType* type = TypeOf(index);
  if (access != ArchiveAccess::kRead) {
    const std::optional<StoredPlace> place = PlaceOf(index, type);
    if (place && (access == ArchiveAccess::kMapWherePossible ||
                  IsFasterMapped(place->begin, place->size, place->dtype))) {
      const std::span<const std::byte> bytes = MappedBytes(place->begin, place->size);
      // If there are none, reading says better what is wrong with the file.
      if (!bytes.empty()) return Map(index, *place, bytes, access).Annotate(where);
    }
  }
  return ReadStored(index, type).Annotate(where);
}

Result<Tensor> TensorArchive::Map(size_t index, const StoredPlace& place,
                                  std::span<const std::byte> bytes, ArchiveAccess access) const {
  map_->Prepare(bytes);
  const std::shared_ptr<const void> keeper(
      bytes.data(), [map = map_, bytes](const void*) { map->Release(bytes); });
  if (access == ArchiveAccess::kMapWhereFaster) VERNIER_TRY(CheckStored(index));
  return Tensor::Wrap(place.dtype, place.dims, bytes, keeper);
}

}  // namespace vernier
