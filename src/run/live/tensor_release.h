// Releases tensors during other work.
#pragma once

#include <future>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// To unmap and free a gigabyte takes the kernel a fifth of a second.
class TensorRelease {
 public:
  /// Releases the tensors; if they are large, on a thread of their own.
  void Add(TensorMap tensors);

  /// Returns when all are gone, which is to be before there are new ones: they count as memory.
  void Wait();

 private:
  std::vector<std::future<void>> pending_;
};

}  // namespace vernier
