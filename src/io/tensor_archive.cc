#include "io/tensor_archive.h"

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

 private:
  std::optional<ZipReader> reader_;
  std::vector<ZipMember> members_;
};

Status NpzArchive::Load(const std::shared_ptr<const InputFile>& file) {
  path_ = file->path();
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

class SafetensorsArchive final : public TensorArchive {
 public:
  Status Load(const std::shared_ptr<const InputFile>& file);

 protected:
  Result<Tensor> ReadStored(size_t index, const StoredType* type) const override;

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

Result<Tensor> TensorArchive::Read(size_t index) const {
  const auto type = metadata_.types.find(names_[index]);
  return ReadStored(index, type == metadata_.types.end() ? nullptr : &type->second)
      .Annotate("'" + path_ + "': tensor '" + names_[index] + "'");
}

}  // namespace vernier
