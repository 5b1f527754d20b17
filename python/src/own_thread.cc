#include "own_thread.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <csignal>

#include "gil.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// How soon Ctrl-C is noticed.
constexpr std::chrono::milliseconds kLook(50);

}  // namespace

OwnThread::OwnThread() : thread_([this] { Serve(); }) {}

OwnThread::~OwnThread() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void OwnThread::Serve() {
  // Signals are for Python's own threads.
  sigset_t all;
  ::sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigdelset(&all, fault);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || work_ != nullptr; });
    if (work_ == nullptr) return;
    lock.unlock();
    (*work_)();
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

// True when the work is done.
bool OwnThread::WaitALittle() {
  const GilRelease release;
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kLook, [this] { return work_ == nullptr; });
}

void OwnThread::Do(const std::function<void()>& work) {
  std::unique_lock turn(turn_, std::defer_lock);
  {
    const GilRelease release;
    turn.lock();
  }
  interrupted_ = 0;
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
  }
  changed_.notify_all();
  while (!WaitALittle()) {
    if (PyErr_CheckSignals() == 0) continue;
    const nb::python_error raised;  // kept while the work comes to its end
    interrupted_ = SIGINT;
    while (!WaitALittle()) {
    }
    throw nb::python_error(raised);
  }
}

}  // namespace vernier::python
