// Memory of a worker's outputs that it uses again once this process has read it.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace vernier {

/// The seals of such memory: it keeps its size, and its descriptor cannot be used to write to it.
/// The worker has it mapped, and writes only to what it has been given back.
int SealsOfLoans();

/// What can be given back. Tensors end on any thread.
class Loans {
 public:
  void Return(uint64_t number) {
    const std::lock_guard lock(mutex_);
    returned_.push_back(number);
  }

  /// What was returned since it was asked before.
  std::vector<uint64_t> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(returned_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<uint64_t> returned_;  ///< inode numbers of memfds
};

}  // namespace vernier
