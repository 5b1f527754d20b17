// How long runtimes were busy: loading, compiling, inference.
#pragma once

#include <chrono>
#include <mutex>
#include <utility>

namespace vernier {

/// Where several work at once, each second counts once. For any number of threads.
class RuntimeClock {
 public:
  /// Counts while it lives.
  class Running {
   public:
    explicit Running(RuntimeClock& clock) : clock_(clock) { clock_.Begin(); }
    ~Running() { clock_.End(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    RuntimeClock& clock_;
  };

  /// Of those that have ended.
  double seconds() const {
    const std::scoped_lock lock(mutex_);
    return seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void Begin() {
    const std::scoped_lock lock(mutex_);
    if (running_++ == 0) since_ = Clock::now();
  }
  void End() {
    const std::scoped_lock lock(mutex_);
    if (--running_ > 0) return;
    seconds_ += std::chrono::duration<double>(Clock::now() - since_).count();
  }

  mutable std::mutex mutex_;
  int running_ = 0;
  Clock::time_point since_;
  double seconds_ = 0;
};

/// How long steps take that follow one another.
class StepClock {
 public:
  /// Seconds since the last call, at first since it was made.
  double Take() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace vernier
