#include "io/tensor_archive.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "io/crc32.h"
#include "io/npy.h"
#include "io/raw_tensor.h"
#include "io/safetensors.h"
#include "io/zip_content.h"
#include "io/zip_reader.h"

namespace vernier {
namespace {

constexpr std::string_view kNpy = ".npy";

class NpzArchive final : public TensorArchive {
 public:
  Status Load(const std::shared_ptr<const InputFile>& file);

 protected:
  Result<Tensor> ReadStored(size_t index, const StoredType* type) const override {
    VERNIER_ASSIGN_OR_RETURN(const auto content, reader_->OpenMember(members_[index]));
    const auto dtype = type == nullptr ? std::nullopt : std::optional(type->dtype);
    Result<Tensor> tensor = ReadNpy(*content, pool_.get(), dtype);
    // Damage shows itself in many ways; that the checksum differs is the one to tell.
    if (Status status = content->Finish(); !status.ok()) return status;
    return tensor;
  }
  std::optional<StoredPlace> PlaceOf(size_t index, const StoredType* type) const override;
  Status CheckStored(size_t index) const override;

 private:
  std::optional<ZipReader> reader_;
  std::vector<ZipMember> members_;
};

Status NpzArchive::Load(const std::shared_ptr<const InputFile>& file) {
  path_ = file->path();
  file_ = file;
  VERNIER_ASSIGN_OR_RETURN(reader_, ZipReader::Open(file));
  for (const ZipMember& member : reader_->members()) {
    if (member.name == kNpzMetadataMember) {
      VERNIER_ASSIGN_OR_RETURN(const std::string text, reader_->ReadText(member));
      VERNIER_ASSIGN_OR_RETURN(metadata_, ParseArchiveMetadata(text));
      continue;
    }
    if (!member.name.ends_with(kNpy)) {
      return Malformed("member '" + member.name + "' of the archive is no .npy file");
    }
    names_.push_back(member.name.substr(0, member.name.size() - kNpy.size()));
    members_.push_back(member);
  }
  return {};
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
  const ZipMember& member = members_[index];
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
  const ZipMember& member = members_[index];
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
  FileSource source(file, 0, file->size());
  VERNIER_ASSIGN_OR_RETURN(header_, ReadSafetensorsHeader(source));
  for (const SafetensorsEntry& entry : header_.entries) names_.push_back(entry.name);
  const auto ours = header_.metadata.find(kSafetensorsMetadataKey);
  if (ours == header_.metadata.end()) return {};
  VERNIER_ASSIGN_OR_RETURN(metadata_, ParseArchiveMetadata(ours->second));
  return {};
}

Result<Tensor> SafetensorsArchive::ReadStored(size_t index, const StoredType* type) const {
  const SafetensorsEntry& entry = header_.entries[index];
  const DType dtype = type == nullptr ? entry.dtype : type->dtype;
  const Dims& dims = type == nullptr ? entry.dims : type->dims;
  FileSource source(file_, header_.data_offset + entry.begin, entry.end - entry.begin,
                    &pool_->threads());
  return ReadRawTensor(source, pool_.get(), dtype, dims);
}

std::optional<TensorArchive::StoredPlace> SafetensorsArchive::PlaceOf(
    size_t index, const StoredType* type) const {
  const SafetensorsEntry& entry = header_.entries[index];
  const DType dtype = type == nullptr ? entry.dtype : type->dtype;
  if (dtype == DType::kString) return std::nullopt;
  return StoredPlace{header_.data_offset + entry.begin, entry.end - entry.begin, dtype,
                     type == nullptr ? entry.dims : type->dims};
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
  const auto type = metadata_.types.find(names_[index]);
  return type == metadata_.types.end() ? nullptr : &type->second;
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
  const std::string where = "'" + path_ + "': tensor '" + names_[index] + "'";
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
