// Memory that another process lends: it uses it again once this one has read it. See lent_memory.h
// for the other side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "util/files/mapped_file.h"
#include "vernier/status.h"

namespace vernier {

/// The seals of such memory: it keeps its size, and its descriptor cannot be used to write to it.
/// The lender has it mapped, and writes only to what it has been given back.
int SealsOfLoans();

/// What can be given back. Tensors end on any thread.
class Loans {
 public:
  void Return(uint64_t number) {
    const std::lock_guard lock(mutex_);
    returned_.push_back(number);
  }

  /// The memory of a descriptor that has these seals, mapped. The maps of the last pieces are kept,
  /// kMostKept bytes of them: what comes again need not be mapped again. kMalformed when the system
  /// refuses.
  Result<std::shared_ptr<const MappedFile>> Map(int fd, size_t size, uint64_t number);
  static constexpr size_t kMostKept = size_t{16} << 20;
  static constexpr size_t kLargestKept = size_t{2} << 20;

  /// What was returned since the previous call.
  std::vector<uint64_t> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(returned_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<uint64_t> returned_;  ///< inode numbers of memfds

  // The last used first. An inode that is mapped is not another's: its number stays its own.
  struct Kept {
    uint64_t number;
    std::shared_ptr<const MappedFile> map;
  };
  std::list<Kept> kept_;
  size_t kept_size_ = 0;
};

}  // namespace vernier
