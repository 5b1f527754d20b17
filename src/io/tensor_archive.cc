#include "io/tensor_archive.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "io/npy.h"
#include "io/raw_tensor.h"
#include "io/safetensors.h"
#include "io/zip_reader.h"
#include "util/input_file.h"

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

 private:
  std::shared_ptr<const InputFile> file_;
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

class SafetensorsArchive final : public TensorArchive {
 public:
  Status Load(const std::shared_ptr<const InputFile>& file);

 protected:
  Result<Tensor> ReadStored(size_t index, const StoredType* type) const override;
  std::optional<StoredPlace> PlaceOf(size_t index, const StoredType* type) const override;

 private:
  std::shared_ptr<const InputFile> file_;
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

Result<Tensor> TensorArchive::Read(size_t index) const {
  return ReadStored(index, TypeOf(index))
      .Annotate("'" + path_ + "': tensor '" + names_[index] + "'");
}

Result<Tensor> TensorArchive::Map(size_t index) const {
  const std::optional<StoredPlace> place = PlaceOf(index, TypeOf(index));
  if (!place || place->size == 0) return Read(index);
  if (map_ == nullptr) {
    Result<std::shared_ptr<const MappedFile>> map = MappedFile::Open(path_);
    if (!map.ok()) return Read(index);  // reading says better what is wrong, if anything is
    map_ = *std::move(map);
  }
  const std::span<const std::byte> bytes = map_->bytes();
  if (place->begin > bytes.size() || place->size > bytes.size() - place->begin) return Read(index);
  return Tensor::Wrap(
             place->dtype, place->dims,
             bytes.subspan(static_cast<size_t>(place->begin), static_cast<size_t>(place->size)),
             map_)
      .Annotate("'" + path_ + "': tensor '" + names_[index] + "'");
}

}  // namespace vernier
