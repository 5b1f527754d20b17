#include "io/tensor_archive.h"

#include <optional>
#include <utility>

#include "io/npy.h"
#include "io/safetensors.h"
#include "io/zip_reader.h"
#include "util/mapped_file.h"

namespace vernier {
namespace {

constexpr std::string_view kNpy = ".npy";

class NpzArchive final : public TensorArchive {
 public:
  Status Load(const std::shared_ptr<const MappedFile>& file);

 protected:
  Result<Tensor> ReadStored(size_t index, const StoredType* type) const override {
    VERNIER_ASSIGN_OR_RETURN(ZipContent content, reader_->Read(members_[index]));
    return ReadNpy(content.bytes, std::move(content.owner),
                   type == nullptr ? std::nullopt : std::optional(type->dtype));
  }

 private:
  std::optional<ZipReader> reader_;
  std::vector<ZipMember> members_;
};

Status NpzArchive::Load(const std::shared_ptr<const MappedFile>& file) {
  path_ = file->path();
  VERNIER_ASSIGN_OR_RETURN(reader_, ZipReader::Open(file->bytes(), file));
  for (const ZipMember& member : reader_->members()) {
    if (member.name == kNpzMetadataMember) {
      VERNIER_ASSIGN_OR_RETURN(const ZipContent content, reader_->Read(member));
      VERNIER_ASSIGN_OR_RETURN(
          metadata_, ParseArchiveMetadata({reinterpret_cast<const char*>(content.bytes.data()),
                                           content.bytes.size()}));
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

class SafetensorsArchive final : public TensorArchive {
 public:
  Status Load(const std::shared_ptr<const MappedFile>& file);

 protected:
  Result<Tensor> ReadStored(size_t index, const StoredType* type) const override;

 private:
  std::shared_ptr<const MappedFile> file_;
  SafetensorsHeader header_;
};

Status SafetensorsArchive::Load(const std::shared_ptr<const MappedFile>& file) {
  path_ = file->path();
  file_ = file;
  VERNIER_ASSIGN_OR_RETURN(header_, ParseSafetensorsHeader(file->bytes()));
  for (const SafetensorsEntry& entry : header_.entries) names_.push_back(entry.name);
  const auto ours = header_.metadata.find(kSafetensorsMetadataKey);
  if (ours == header_.metadata.end()) return {};
  VERNIER_ASSIGN_OR_RETURN(metadata_, ParseArchiveMetadata(ours->second));
  return {};
}

// Multiples of 64 bits need 8-byte alignment at most, as do the offsets of strings.
bool IsAligned(std::span<const std::byte> bytes, DType dtype) {
  const size_t alignment = dtype == DType::kString || BitsOf(dtype) >= 64
                               ? 8
                               : std::max<size_t>(static_cast<size_t>(BitsOf(dtype)) / 8, 1);
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0;
}

Result<Tensor> SafetensorsArchive::ReadStored(size_t index, const StoredType* type) const {
  const SafetensorsEntry& entry = header_.entries[index];
  const DType dtype = type == nullptr ? entry.dtype : type->dtype;
  const Dims& dims = type == nullptr ? entry.dims : type->dims;
  const auto bytes = file_->bytes().subspan(static_cast<size_t>(header_.data_offset + entry.begin),
                                            static_cast<size_t>(entry.end - entry.begin));
  if (!IsAligned(bytes, dtype)) return Tensor::Copy(dtype, dims, bytes);
  return Tensor::Wrap(dtype, dims, bytes, file_);
}

template <typename Archive>
Result<std::unique_ptr<TensorArchive>> OpenAs(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
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

Result<Tensor> TensorArchive::Read(size_t index) const {
  const auto type = metadata_.types.find(names_[index]);
  return ReadStored(index, type == metadata_.types.end() ? nullptr : &type->second)
      .Annotate("'" + path_ + "': tensor '" + names_[index] + "'");
}

}  // namespace vernier
