// Threads that wait for work: made once, used by every comparison of a run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace vernier {

/// Where `$VERNIER_THREADS` is a positive number, that (at most 1024); otherwise the processors
/// this process may run on.
size_t DefaultThreadCount();

/// The calling thread counts as one of the pool's: a pool of one thread starts none. Threads start
/// with the first call that can use them. Run() may be called from one thread at a time.
class ThreadPool {
 public:
  explicit ThreadPool(size_t thread_count = DefaultThreadCount());
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t thread_count() const;

  /// Calls `task(index, thread)` once for each index below `count`, in any order, from up to
  /// thread_count() threads at once, numbered from 0. Returns when all have ended. `task` must not
  /// throw or call Run().
  void Run(size_t count, const std::function<void(size_t index, size_t thread)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vernier
