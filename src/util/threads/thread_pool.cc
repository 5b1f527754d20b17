#include "util/threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "util/threads/allowed_processors.h"

namespace vernier {
namespace {

constexpr size_t kMostThreads = 1024;

}  // namespace

size_t DefaultThreadCount() {
  const char* text = std::getenv("VERNIER_THREADS");
  if (text != nullptr) {
    size_t count = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, count);
    if (error == std::errc() && stop == end && count > 0) return std::min(count, kMostThreads);
  }
  return AllowedProcessors();
}

struct ThreadPool::State {
  size_t thread_count = 1;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable work_came;
  std::condition_variable work_ended;
  size_t round = 0;    ///< counts calls of Run; a waiting thread has seen the one before
  size_t working = 0;  ///< threads that have not finished this round
  bool ending = false;

  const std::function<void(size_t, size_t)>* task = nullptr;
  size_t count = 0;
  std::atomic<size_t> next{0};

  void TakeTasks(size_t thread) {
    for (size_t index = next++; index < count; index = next++) (*task)(index, thread);
  }

  void Wait(size_t thread) {
    size_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      work_came.wait(lock, [&] { return ending || round != seen; });
      if (ending) return;
      seen = round;
      lock.unlock();
      TakeTasks(thread);
      lock.lock();
      if (--working == 0) work_ended.notify_one();
    }
  }
};

ThreadPool::ThreadPool(size_t thread_count) : state_(std::make_unique<State>()) {
  state_->thread_count = std::clamp<size_t>(thread_count, 1, kMostThreads);
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->work_came.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

size_t ThreadPool::thread_count() const { return state_->thread_count; }

void ThreadPool::Run(size_t count, const std::function<void(size_t, size_t)>& task) {
  State& s = *state_;
  if (count <= 1 || s.thread_count == 1) {
    for (size_t index = 0; index < count; ++index) task(index, 0);
    return;
  }
  while (s.threads.size() + 1 < s.thread_count) {
    s.threads.emplace_back([&s, thread = s.threads.size() + 1] { s.Wait(thread); });
  }
  {
    const std::lock_guard lock(s.mutex);
    s.task = &task;
    s.count = count;
    s.next = 0;
    s.working = s.threads.size();
    ++s.round;
  }
  s.work_came.notify_all();
  s.TakeTasks(0);
  std::unique_lock lock(s.mutex);
  s.work_ended.wait(lock, [&s] { return s.working == 0; });
}

}  // namespace vernier
