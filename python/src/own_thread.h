// A thread that does the work of the libraries while Python's own thread waits for signals.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace vernier::python {

/// Worker processes die with the thread that started them, so an object with workers keeps one of
/// these as long as it lives.
class OwnThread {
 public:
  OwnThread();
  /// Waits for the thread, which does nothing at that time.
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  /// Does `work` on the thread, without the GIL, and returns when it is done. Must be called with
  /// the GIL. A signal whose Python handler raises (Ctrl-C) sets interrupted(), which work is to
  /// look at; when it has ended, the handler's exception goes on. Work must not throw.
  void Do(const std::function<void()>& work);

  const std::atomic<int>& interrupted() const { return interrupted_; }

 private:
  void Serve();
  bool WaitALittle();

  std::atomic<int> interrupted_{0};
  std::mutex turn_;  // of the threads that call Do
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace vernier::python
