// Files of named tensors: .npz and .safetensors.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive/archive_access.h"
#include "io/archive/archive_metadata.h"
#include "io/archive/archive_name_table.h"
#include "io/bytes/part_file.h"
#include "io/bytes/record_spill.h"
#include "io/bytes/tensor_pool.h"
#include "util/files/atomic_file.h"
#include "util/files/input_file.h"
#include "util/files/mapped_file.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

enum class ArchiveFormat : uint8_t { kNpz, kSafetensors };

class TensorArchive {
 public:
  /// Checks the whole structure. kMalformed, naming the path, when the file is missing or damaged.
  static Result<std::unique_ptr<TensorArchive>> Open(const std::string& path, ArchiveFormat format);
  virtual ~TensorArchive() = default;

  /// In the file's order, without ".npy".
  const ArchiveNameTable& names() const { return names_; }
  const ArchiveMetadata& metadata() const { return metadata_; }
  const std::string& path() const { return path_; }

  /// What is read lies in memory that later tensors of the same size use again, once it is dropped;
  /// what is mapped keeps the map alive. kMalformed names the file and the tensor.
  Result<Tensor> Read(size_t index, ArchiveAccess access = ArchiveAccess::kRead) const;

  /// Whether the file is what it was when it was opened: see InputFile and MappedFile.
  Status CheckIntact() const {
    return map_ == nullptr ? file_->CheckIntact() : map_->CheckIntact();
  }

 protected:
  /// Where the bytes of a tensor lie in the file.
  struct StoredPlace {
    uint64_t begin = 0;
    uint64_t size = 0;
    DType dtype = DType::kUndefined;
    Dims dims;
  };
  /// nullopt for a tensor that has to be read.
  virtual std::optional<StoredPlace> PlaceOf(size_t index, const StoredType* type) const = 0;
  /// Compares the checksum of a stored tensor, where it has one, with its mapped bytes.
  virtual Status CheckStored(size_t index) const = 0;
  virtual Result<Tensor> ReadStored(size_t index, const StoredType* type) const = 0;

  /// Empty where the file cannot be mapped or has become too short.
  std::span<const std::byte> MappedBytes(uint64_t begin, uint64_t size) const;

  std::string path_;
  std::shared_ptr<const InputFile> file_;  // all that is read or mapped is this file's
  ArchiveNameTable names_;
  ArchiveMetadata metadata_;
  std::shared_ptr<TensorPool> pool_ = TensorPool::Create();
  mutable std::shared_ptr<const MappedFile> map_;  // made when the first tensor is mapped

 private:
  const StoredType* TypeOf(size_t index) const;
  Result<Tensor> Map(size_t index, const StoredPlace& place, std::span<const std::byte> bytes,
                     ArchiveAccess access) const;
};

/// Which tensors are meant, by their names in the archive; all where it is null.
using TensorSelection = std::function<bool(std::string_view name)>;

/// Collects tensors in a spool file. Memory grows neither with their number nor with their size:
/// what the archive will say about them waits in a file without a name beside the spool.
class TensorArchiveWriter {
 public:
  /// Writes to `spool`, which must be empty, have a name and outlive the object.
  static Result<std::unique_ptr<TensorArchiveWriter>> Create(PartFile& spool, ArchiveFormat format);
  virtual ~TensorArchiveWriter() = default;

  /// kIo when the spool cannot be written; Truncate() then restores a state from which to continue.
  virtual Status Add(const std::string& name, const Tensor& tensor) = 0;

  /// A state to come back to.
  struct Mark {
    RecordSpill::Mark entries;
    uint64_t bytes = 0;
  };
  Mark mark() const { return {entries_.mark(), end_}; }

  /// Forgets what was added since the mark.
  Status Truncate(const Mark& mark);

  /// Makes `path` an archive of the selected tensors in one step; of all of them, where that is
  /// possible, by renaming the spool, which saves writing everything twice. On error (kIo) `path`
  /// is unchanged, and the spool can be continued. At most one Publish may succeed.
  Status Publish(const std::string& path, const TensorSelection& selected,
                 const WrittenMetadata& metadata);

 protected:
  /// Makes the spool itself an archive of all tensors; false, and nothing has happened, where that
  /// is not possible. On error Truncate(mark()) makes it a spool again.
  virtual Result<bool> FinishSpool(const WrittenMetadata& metadata) = 0;

  virtual Status WriteTo(AtomicFile& file, const TensorSelection& selected,
                         const WrittenMetadata& metadata) const = 0;

  struct Entry {
    std::string name;
    DType dtype = DType::kUndefined;
    Dims dims;
    uint64_t begin = 0;  // in the spool
    uint64_t end = 0;
    uint64_t size = 0;  // of an npz member's content
    uint32_t crc = 0;
  };

  TensorArchiveWriter(PartFile& spool, uint64_t begin)
      : spool_(spool), end_(begin), entries_(spool.directory()) {}

  /// The entry begins where the last one ended, and ends where the spool does.
  void Keep(Entry entry);
  Status ForEach(const TensorSelection& selected,
                 const std::function<Status(const Entry&)>& use) const;
  Status CopySelected(AtomicFile& file, const TensorSelection& selected) const;

  PartFile& spool_;

 private:
  Result<bool> PublishSpool(const std::string& path, const WrittenMetadata& metadata);

  uint64_t end_;  // of the last tensor
  RecordSpill entries_;
};

}  // namespace vernier
