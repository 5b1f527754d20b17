#include <cstring>
#include <type_traits>
#include <utility>

#include "io/archive/npy.h"
#include "io/archive/safetensors.h"
#include "io/archive/tensor_archive.h"
#include "io/archive/zip_writer.h"

namespace vernier {
namespace {

// Numbers one behind the other, as they lie in memory.
template <typename T>
void PutNumber(std::string& record, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  record.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// From a record that PutNumber() made.
template <typename T>
T TakeNumber(std::string_view& record) {
  T value;
  std::memcpy(&value, record.data(), sizeof(value));
  record.remove_prefix(sizeof(value));
  return value;
}

// Overwrites a file from its beginning.
class FrontSink final : public ByteSink {
 public:
  explicit FrontSink(PartFile& file) : file_(file) {}
  Status Write(std::span<const std::byte> bytes) override {
    VERNIER_TRY(file_.WriteAt(position_, bytes));
    position_ += bytes.size();
    return {};
  }

 private:
  PartFile& file_;
  uint64_t position_ = 0;
};

using Types = Sequence<std::string, StoredType>;

// Whether there is anything to say beside the tensors.
Result<bool> HasMetadata(const WrittenMetadata& metadata, const Types& types) {
  bool any = metadata.is_results || metadata.feed_count;
  if (any) return true;
  VERNIER_TRY(types([&any](const std::string&, const StoredType&) {
    any = true;
    return Status();
  }));
  return any;
}

}  // namespace

void TensorArchiveWriter::Keep(Entry entry) {
  std::string record;
  PutNumber(record, entry.dtype);
  PutNumber(record, end_);
  PutNumber(record, spool_.size());
  PutNumber(record, entry.size);
  PutNumber(record, entry.crc);
  PutNumber(record, entry.dims.size());
  for (const int64_t dim : entry.dims) PutNumber(record, dim);
  record += entry.name;
  entries_.Append(record);
  end_ = spool_.size();
}

Status TensorArchiveWriter::ForEach(const TensorSelection& selected,
                                    const std::function<Status(const Entry&)>& use) const {
  return entries_.ForEach([&](std::string_view record) {
    Entry entry;
    entry.dtype = TakeNumber<DType>(record);
    entry.begin = TakeNumber<uint64_t>(record);
    entry.end = TakeNumber<uint64_t>(record);
    entry.size = TakeNumber<uint64_t>(record);
    entry.crc = TakeNumber<uint32_t>(record);
    entry.dims.resize(TakeNumber<size_t>(record));
    for (int64_t& dim : entry.dims) dim = TakeNumber<int64_t>(record);
    entry.name = record;
    return !selected || selected(entry.name) ? use(entry) : Status();
  });
}

Status TensorArchiveWriter::Truncate(const Mark& mark) {
  VERNIER_TRY(entries_.Truncate(mark.entries));
  end_ = mark.bytes;
  return spool_.Truncate(mark.bytes);
}

Status TensorArchiveWriter::Publish(const std::string& path, const TensorSelection& selected,
                                    const WrittenMetadata& metadata) {
  if (!selected && CanRenameOver(path)) {
    VERNIER_ASSIGN_OR_RETURN(const bool published, PublishSpool(path, metadata));
    if (published) return {};
  }
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  VERNIER_TRY(WriteTo(file, selected, metadata));
  return file.Commit();
}

// False where the format does not allow it.
Result<bool> TensorArchiveWriter::PublishSpool(const std::string& path,
                                               const WrittenMetadata& metadata) {
  const Result<bool> finished = FinishSpool(metadata);
  if (finished.ok() && !*finished) return false;
  Status status = finished.ok() ? spool_.PublishAs(path) : finished.status();
  if (status.ok()) return true;
  VERNIER_TRY(Truncate(mark()));
  return status;
}

// What lies side by side is copied at once.
Status TensorArchiveWriter::CopySelected(AtomicFile& file, const TensorSelection& selected) const {
  uint64_t begin = 0;
  uint64_t end = 0;
  VERNIER_TRY(ForEach(selected, [&](const Entry& entry) {
    if (entry.begin != end) {
      VERNIER_TRY(file.CopyFrom(spool_.fd(), begin, end - begin));
      begin = entry.begin;
    }
    end = entry.end;
    return Status();
  }));
  return file.CopyFrom(spool_.fd(), begin, end - begin);
}

namespace {

class NpzWriter final : public TensorArchiveWriter {
 public:
  explicit NpzWriter(PartFile& spool) : TensorArchiveWriter(spool, 0) {}

  Status Add(const std::string& name, const Tensor& tensor) override {
    VERNIER_ASSIGN_OR_RETURN(const ZipEntry member, AppendZipTensor(spool_, name + ".npy", tensor));
    Keep({.name = name,
          .dtype = tensor.dtype(),
          .dims = tensor.dims(),
          .size = member.size,
          .crc = member.crc});
    return {};
  }

 private:
  Result<bool> FinishSpool(const WrittenMetadata& metadata) override {
    VERNIER_TRY(Finish(spool_, nullptr, metadata));
    return true;
  }

  Status WriteTo(AtomicFile& file, const TensorSelection& selected,
                 const WrittenMetadata& metadata) const override {
    VERNIER_TRY(CopySelected(file, selected));
    AtomicFileSink sink(file);
    return Finish(sink, selected, metadata);
  }

  // `file` has the members, one behind the other.
  Status Finish(OutputFile& file, const TensorSelection& selected,
                const WrittenMetadata& metadata) const {
    const Types types = [&](const auto& use) {
      return ForEach(selected, [&use](const Entry& entry) {
        return NpyLosesType(entry.dtype) ? use(entry.name, {entry.dtype, entry.dims}) : Status();
      });
    };
    ZipEntry last;
    VERNIER_ASSIGN_OR_RETURN(const bool wanted, HasMetadata(metadata, types));
    if (wanted) {
      const auto write = [&](ByteSink& sink) {
        return WriteArchiveMetadata(sink, metadata, types);
      };
      VERNIER_ASSIGN_OR_RETURN(last, AppendZipMember(file, kNpzMetadataMember, write));
    }
    ZipDirectoryWriter directory(file);
    uint64_t position = 0;
    VERNIER_TRY(ForEach(selected, [&](const Entry& entry) {
      const uint64_t offset = position;
      position += entry.end - entry.begin;
      return directory.Add(
          {.name = entry.name + ".npy", .crc = entry.crc, .size = entry.size, .offset = offset});
    }));
    if (wanted) VERNIER_TRY(directory.Add(last));
    return directory.Finish();
  }
};

// Safetensors begin with a header that is known only at the end. Large files get room for it, a
// hole until then; blanks fill what it does not need.
constexpr uint64_t kHeaderRoom = uint64_t{1} << 20;
constexpr uint64_t kWorthRoom = 64 * kHeaderRoom;

class SafetensorsWriter final : public TensorArchiveWriter {
 public:
  explicit SafetensorsWriter(PartFile& spool) : TensorArchiveWriter(spool, kHeaderRoom) {}

  Status Start() { return spool_.Truncate(kHeaderRoom); }

  Status Add(const std::string& name, const Tensor& tensor) override {
    VERNIER_TRY(spool_.Write(tensor.bytes()));
    Keep({.name = name, .dtype = tensor.dtype(), .dims = tensor.dims()});
    return {};
  }

 private:
  Result<bool> FinishSpool(const WrittenMetadata& metadata) override {
    if (spool_.size() < kWorthRoom) return false;
    const TensorSelection all;
    VERNIER_ASSIGN_OR_RETURN(const SafetensorsHeaderParts header, Header(all, metadata));
    VERNIER_ASSIGN_OR_RETURN(const uint64_t size, SafetensorsHeaderSize(header));
    if (size > kHeaderRoom) return false;
    FrontSink front(spool_);
    VERNIER_TRY(WriteSafetensorsHeader(header, kHeaderRoom, front));
    return true;
  }

  Status WriteTo(AtomicFile& file, const TensorSelection& selected,
                 const WrittenMetadata& metadata) const override {
    VERNIER_ASSIGN_OR_RETURN(const SafetensorsHeaderParts header, Header(selected, metadata));
    VERNIER_ASSIGN_OR_RETURN(const uint64_t size, SafetensorsHeaderSize(header));
    AtomicFileSink sink(file);
    VERNIER_TRY(WriteSafetensorsHeader(header, size, sink));
    return CopySelected(file, selected);
  }

  // What it returns must not outlive its arguments.
  Result<SafetensorsHeaderParts> Header(const TensorSelection& selected,
                                        const WrittenMetadata& metadata) const {
    const Types types = [this, &selected](const auto& use) {
      return ForEach(selected, [&use](const Entry& entry) {
        return SafetensorsTypeName(entry.dtype) ? Status()
                                                : use(entry.name, {entry.dtype, entry.dims});
      });
    };
    SafetensorsHeaderParts parts;
    parts.entries = [this, &selected](const auto& use) { return ForEachInHeader(selected, use); };
    VERNIER_ASSIGN_OR_RETURN(const bool wanted, HasMetadata(metadata, types));
    if (!wanted) return parts;
    parts.metadata_key = kSafetensorsMetadataKey;
    parts.metadata = [&metadata, types](ByteSink& sink) {
      return WriteArchiveMetadata(sink, metadata, types);
    };
    return parts;
  }

  // A type without a name there is bytes.
  Status ForEachInHeader(const TensorSelection& selected,
                         const std::function<Status(const SafetensorsEntry&)>& use) const {
    uint64_t position = 0;
    return ForEach(selected, [&](const Entry& entry) {
      const uint64_t begin = position;
      position += entry.end - entry.begin;
      const bool named = SafetensorsTypeName(entry.dtype).has_value();
      return use({.name = entry.name,
                  .dtype = named ? entry.dtype : DType::kUint8,
                  .dims = named ? entry.dims : Dims{static_cast<int64_t>(position - begin)},
                  .begin = begin,
                  .end = position});
    });
  }
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
