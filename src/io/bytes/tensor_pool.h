// Memory of tensors that is used again for the next iteration's.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "util/threads/thread_pool.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Fresh memory costs as much as the reading that fills it: the kernel clears every page first.
/// The pool keeps the blocks of tensors that were dropped until the next tensors of those sizes
/// come; when the sizes change it keeps none. So it holds at most what was in use at once.
class TensorPool : public std::enable_shared_from_this<TensorPool> {
 public:
  static std::shared_ptr<TensorPool> Create() {
    return std::shared_ptr<TensorPool>(new TensorPool());
  }

  using Fill = std::function<Status(std::span<std::byte>)>;

  /// A tensor whose bytes `fill` writes, all of them. kMalformed when the size overflows or the
  /// dtype has no fixed size; kInternal when memory runs out; else what `fill` returns.
  Result<Tensor> Make(DType dtype, Dims dims, const Fill& fill);

  /// Threads that fill large tensors.
  ThreadPool& threads() { return threads_; }

  /// Bytes kept for later.
  size_t idle_bytes() const;

 private:
  using Block = std::unique_ptr<std::byte, void (*)(std::byte*)>;

  TensorPool() = default;
  std::shared_ptr<std::byte> Take(size_t size);
  void Return(Block block, size_t size);

  ThreadPool threads_;
  mutable std::mutex mutex_;
  std::multimap<size_t, Block> idle_;  // by size
};

/// The same without a pool when `pool` is null.
Result<Tensor> MakeTensor(TensorPool* pool, DType dtype, Dims dims, const TensorPool::Fill& fill);

}  // namespace vernier
