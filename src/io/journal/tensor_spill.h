// Tensors that wait on the disk, in a file without a name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/bytes/part_file.h"
#include "io/bytes/tensor_pool.h"
#include "io/journal/journal.h"
#include "util/files/input_file.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A list of tensor maps. The file is gone with the object, however the process ends. Memory grows
/// with the number of maps, and with their tensors only where a map differs from the one before.
class TensorSpill {
 public:
  /// kIo when `directory` cannot be written.
  static Result<TensorSpill> Create(const std::string& directory);

  size_t size() const { return entries_.size(); }

  /// kIo when there is no room; nothing may be appended after that.
  Status Append(const TensorMap& tensors);

  /// kIo when the file cannot be read.
  Result<TensorMap> Read(size_t index);

 private:
  struct Entry {
    uint64_t begin = 0;
    std::shared_ptr<const JournalLayout> layout;
  };

  explicit TensorSpill(PartFile file) : file_(std::move(file)) {}

  PartFile file_;
  std::vector<Entry> entries_;
  std::shared_ptr<const InputFile> reading_;
  std::shared_ptr<TensorPool> pool_ = TensorPool::Create();
};

}  // namespace vernier
