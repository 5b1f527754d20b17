#include <algorithm>
#include <iterator>
#include <utility>

#include "io/npy.h"
#include "io/safetensors.h"
#include "io/tensor_archive.h"
#include "io/zip_writer.h"

namespace vernier {
namespace {

using Types = std::vector<std::optional<StoredType>>;  // parallel to the entries

template <typename Entries>
void KeepTypes(const Entries& entries, const Types& types, const std::vector<bool>& selected,
               ArchiveMetadata& metadata) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (selected[i] && types[i]) metadata.types.emplace(entries[i].name, *types[i]);
  }
}

class NpzWriter final : public TensorArchiveWriter {
 public:
  explicit NpzWriter(PartFile& spool) : spool_(spool) {}
  size_t size() const override { return entries_.size(); }

  Status Add(const std::string& name, const Tensor& tensor) override {
    VERNIER_ASSIGN_OR_RETURN(ZipEntry entry, AppendZipTensor(spool_, name + ".npy", tensor));
    names_.push_back({name});
    entries_.push_back(std::move(entry));
    types_.push_back(NpyLosesType(tensor.dtype())
                         ? std::optional(StoredType{tensor.dtype(), tensor.dims()})
                         : std::nullopt);
    return {};
  }

  Status Truncate(size_t count) override {
    names_.resize(count);
    entries_.resize(count);
    types_.resize(count);
    return spool_.Truncate(entries_.empty() ? 0 : entries_.back().end);
  }

  Status WriteTo(AtomicFile& file, const std::vector<bool>& selected,
                 ArchiveMetadata metadata) const override {
    std::vector<ZipEntry> written;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!selected[i]) continue;
      ZipEntry entry = entries_[i];
      const uint64_t offset = file.size();
      VERNIER_TRY(file.CopyFrom(spool_.fd(), entry.offset, entry.end - entry.offset));
      entry.end = offset + (entry.end - entry.offset);
      entry.offset = offset;
      written.push_back(std::move(entry));
    }
    AtomicFileSink sink(file);
    return Finish(sink, std::move(written), selected, std::move(metadata));
  }

  bool CanFinishSpool() const override { return true; }

  Status FinishSpool(ArchiveMetadata metadata) override {
    return Finish(spool_, entries_, std::vector<bool>(size(), true), std::move(metadata));
  }

 private:
  Status Finish(OutputFile& file, std::vector<ZipEntry> written, const std::vector<bool>& selected,
                ArchiveMetadata metadata) const {
    KeepTypes(names_, types_, selected, metadata);
    if (!metadata.empty()) {
      VERNIER_ASSIGN_OR_RETURN(
          ZipEntry entry, AppendZipText(file, kNpzMetadataMember, FormatArchiveMetadata(metadata)));
      written.push_back(std::move(entry));
    }
    return AppendZipDirectory(file, written);
  }

  struct Name {
    std::string name;
  };

  PartFile& spool_;
  std::vector<Name> names_;
  std::vector<ZipEntry> entries_;
  Types types_;
};

class SafetensorsWriter final : public TensorArchiveWriter {
 public:
  explicit SafetensorsWriter(PartFile& spool) : spool_(spool) {}
  size_t size() const override { return entries_.size(); }

  Status Add(const std::string& name, const Tensor& tensor) override {
    const uint64_t before = spool_.size();
    VERNIER_TRY(spool_.Write(tensor.bytes()));
    SafetensorsEntry entry{.name = name,
                           .dtype = tensor.dtype(),
                           .dims = tensor.dims(),
                           .begin = before,
                           .end = spool_.size()};
    std::optional<StoredType> type;
    if (!SafetensorsTypeName(entry.dtype)) {
      type = StoredType{entry.dtype, entry.dims};
      entry.dtype = DType::kUint8;
      entry.dims = {static_cast<int64_t>(entry.end - entry.begin)};
    }
    entries_.push_back(std::move(entry));
    types_.push_back(std::move(type));
    return {};
  }

  Status Truncate(size_t count) override {
    entries_.resize(count);
    types_.resize(count);
    return spool_.Truncate(entries_.empty() ? 0 : entries_.back().end);
  }

  Status WriteTo(AtomicFile& file, const std::vector<bool>& selected,
                 ArchiveMetadata metadata) const override {
    std::vector<SafetensorsEntry> moved;
    uint64_t position = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (!selected[i]) continue;
      moved.push_back(entries_[i]);
      const uint64_t size = entries_[i].end - entries_[i].begin;
      moved.back().begin = position;
      moved.back().end = position += size;
    }
    KeepTypes(entries_, types_, selected, metadata);
    std::map<std::string, std::string> texts;
    if (!metadata.empty()) texts[kSafetensorsMetadataKey] = FormatArchiveMetadata(metadata);
    VERNIER_ASSIGN_OR_RETURN(const std::string header, FormatSafetensorsHeader(moved, texts));
    VERNIER_TRY(file.Write(header));
    for (size_t i = 0; i < entries_.size(); ++i) {
      const SafetensorsEntry& entry = entries_[i];
      if (selected[i])
        VERNIER_TRY(file.CopyFrom(spool_.fd(), entry.begin, entry.end - entry.begin));
    }
    return {};
  }

 private:
  PartFile& spool_;
  std::vector<SafetensorsEntry> entries_;
  Types types_;
};

}  // namespace

std::unique_ptr<TensorArchiveWriter> TensorArchiveWriter::Create(PartFile& spool,
                                                                 ArchiveFormat format) {
  if (format == ArchiveFormat::kNpz) return std::make_unique<NpzWriter>(spool);
  return std::make_unique<SafetensorsWriter>(spool);
}

}  // namespace vernier
