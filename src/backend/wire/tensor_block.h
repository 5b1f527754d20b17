// A set of tensors on its way between processes: names, types and shapes in the message, the bytes
// in one sealed memfd, or in the message itself when they are few.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/wire/lent_memory.h"
#include "backend/wire/loans.h"
#include "backend/wire/wire.h"
#include "util/files/shared_memory.h"
#include "util/files/unique_fd.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// An output that a runner could not return, and why.
struct SkippedOutput {
  std::string name;
  std::string why;
};

/// An output that stayed in the worker, on its device.
struct KeptOutput {
  std::string name;
  DType dtype = DType::kUndefined;
  Dims dims;
  uint64_t handle = 0;
  size_t position = 0;  ///< among the tensors of the block, itself and others counted
};

/// Encoded tensors. The same block may be sent several times.
struct TensorBlock {
  std::vector<std::byte> description;
  UniqueFd memory;    ///< sealed or lent; not valid when the bytes are in the description
  uint64_t lent = 0;  ///< not 0: by this number its memory is to be taken back
};

/// Collects tensors, whose bytes must stay valid until Finish.
class TensorBlockBuilder {
 public:
  void Add(std::string_view name, DType dtype, std::span<const int64_t> dims,
           std::span<const std::byte> bytes);
  /// A tensor whose bytes `fill` writes, once, during Finish; its failure is that of Finish.
  using Fill = std::function<Status(std::span<std::byte>)>;
  void AddFilled(std::string_view name, DType dtype, std::span<const int64_t> dims, size_t size,
                 Fill fill);
  void AddKept(std::string_view name, DType dtype, std::span<const int64_t> dims, uint64_t handle);
  void AddSkipped(std::string_view name, std::string_view why);

  /// Memory that some of the tensors may lie in, which are then not copied: the block is made of
  /// it. Finish seals it; of memory that is sealed already, all tensors must be, or it is not used.
  void Use(std::shared_ptr<SharedMemory> memory) { memory_ = std::move(memory); }

  /// Memory that is used where no other is, as far as it goes; whoever reads the block must know
  /// of loans. It must outlive Finish.
  void Borrow(LentMemory* lent) { lent_ = lent; }

  /// kInternal when shared memory cannot be allocated.
  Result<TensorBlock> Finish();

 private:
  struct Entry {
    std::string name;
    DType dtype;
    std::vector<int64_t> dims;
    std::span<const std::byte> bytes;
    std::string skipped;
    size_t size = 0;
    Fill fill;
    uint64_t handle = 0;    ///< not 0: kept
    uint64_t offset = 0;    ///< in the block's bytes
    bool is_there = false;  ///< in the memory already
  };

  uint64_t PlaceEntries();
  MessageWriter Describe() const;
  Status WriteInline(MessageWriter& writer) const;
  Status WriteShared(uint64_t added);
  Status WriteLent(std::span<std::byte> place) const;
  Status FillAll(uint64_t begin, uint64_t size) const;

  std::vector<Entry> entries_;
  std::shared_ptr<SharedMemory> memory_;
  std::shared_ptr<SharedMemory> unused_;
  LentMemory* lent_ = nullptr;
};

/// Tensors that lie in one SharedMemory are not copied. `lent` as for Borrow; may be null.
Result<TensorBlock> EncodeTensors(const TensorMap& tensors, LentMemory* lent = nullptr);

struct DecodedBlock {
  TensorMap tensors;
  std::vector<SkippedOutput> skipped;
  std::vector<KeptOutput> kept;
};

/// The tensors of a block, mapped read-only, no copy. kBackend when the description is malformed,
/// reaches outside the memory, or the memory is not sealed (its sender could still change it). With
/// `loans` the memory may be lent: it is returned there when the last of the tensors has ended.
Result<DecodedBlock> DecodeTensors(std::span<const std::byte> description, UniqueFd memory,
                                   const std::shared_ptr<Loans>& loans = nullptr);

}  // namespace vernier
