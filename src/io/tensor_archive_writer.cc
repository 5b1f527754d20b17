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

  Result<bool> FinishSpool(const ArchiveMetadata& metadata) override {
    VERNIER_TRY(Finish(spool_, entries_, std::vector<bool>(size(), true), metadata));
    return true;
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

// Safetensors begin with a header that is known only at the end. Large files get room for it, a
// hole until then; blanks fill what it does not need.
constexpr uint64_t kHeaderRoom = uint64_t{1} << 20;
constexpr uint64_t kWorthRoom = 64 * kHeaderRoom;

class SafetensorsWriter final : public TensorArchiveWriter {
 public:
  explicit SafetensorsWriter(PartFile& spool) : spool_(spool) {}
  size_t size() const override { return entries_.size(); }

  Status Start() { return spool_.Truncate(kHeaderRoom); }

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
    return spool_.Truncate(entries_.empty() ? kHeaderRoom : entries_.back().end);
  }

  Status WriteTo(AtomicFile& file, const std::vector<bool>& selected,
                 ArchiveMetadata metadata) const override {
    VERNIER_ASSIGN_OR_RETURN(const std::string header, Header(selected, std::move(metadata), 0));
    VERNIER_TRY(file.Write(header));
    // What lies side by side is copied at once.
    for (size_t i = 0; i < entries_.size();) {
      if (!selected[i]) {
        ++i;
        continue;
      }
      const uint64_t begin = entries_[i].begin;
      while (i < entries_.size() && selected[i]) ++i;
      VERNIER_TRY(file.CopyFrom(spool_.fd(), begin, entries_[i - 1].end - begin));
    }
    return {};
  }

  Result<bool> FinishSpool(const ArchiveMetadata& metadata) override {
    if (spool_.size() < kWorthRoom) return false;
    const std::vector<bool> all(size(), true);
    VERNIER_ASSIGN_OR_RETURN(const std::string header, Header(all, metadata, kHeaderRoom));
    if (header.size() != kHeaderRoom) return false;
    VERNIER_TRY(spool_.WriteAt(0, std::as_bytes(std::span(header.data(), header.size()))));
    return true;
  }

 private:
  // Filled with blanks up to `room` bytes if it has fewer.
  Result<std::string> Header(const std::vector<bool>& selected, ArchiveMetadata metadata,
                             uint64_t room) const {
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
    return FormatSafetensorsHeader(moved, texts, room);
  }

  PartFile& spool_;
  std::vector<SafetensorsEntry> entries_;
  Types types_;
};

}  // namespace

Result<std::unique_ptr<TensorArchiveWriter>> TensorArchiveWriter::Create(PartFile& spool,
                                                                         ArchiveFormat format) {
  if (format == ArchiveFormat::kNpz) {
    return std::unique_ptr<TensorArchiveWriter>(std::make_unique<NpzWriter>(spool));
  }
  auto writer = std::make_unique<SafetensorsWriter>(spool);
  VERNIER_TRY(writer->Start());
  return std::unique_ptr<TensorArchiveWriter>(std::move(writer));
}

}  // namespace vernier
