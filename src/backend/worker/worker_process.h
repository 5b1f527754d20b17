// What runs a worker, seen from the parent: a process, or a thread that stands in for one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/wire/channel.h"
#include "backend/worker/stderr_relay.h"
#include "util/files/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

/// Not thread-safe. End it with Wait, or with Bury; destruction alone leaves a process running.
class WorkerProcess {
 public:
  /// Starts this executable as `vernier worker`, which serves `served` or becomes `program` (its
  /// words; empty: none). `environment` is "NAME=value", beside this process's own, the last for a
  /// name. kInternal when the system refuses.
  static Result<std::unique_ptr<WorkerProcess>> Start(std::vector<std::string> program,
                                                      std::vector<std::string> environment,
                                                      RelayRule words, Channel served);

  /// A thread of this process. What hangs there cannot be ended, and a crash takes everything
  /// along.
  static std::unique_ptr<WorkerProcess> InThread(Channel served);

  /// Nothing of ours: another part of this process serves the connection.
  static std::unique_ptr<WorkerProcess> None();

  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Is there a process that was not waited for?
  bool runs() const { return pid_ > 0; }

  /// For poll, which ignores it where there is no process: readable once that has ended.
  int descriptor() const { return process_.get(); }

  /// Has the process ended? Waits so long for it.
  bool HasEnded(int milliseconds = 0) const;

  /// Ends the process, and all that it has started.
  void Kill();

  /// Waits for the end, and says how the process ended badly: "died of SIGSEGV ..."; nothing if it
  /// ended well, or if the system does not say.
  std::optional<std::string> Wait();

  /// Of a connection that has ended: ends the process and says how it ended by itself, if so.
  std::optional<std::string> Bury();

  /// Waits for the thread, if there is one; `hangs`: leaves it to the end of this process.
  void EndThread(bool hangs);

  /// What the process wrote to its standard error, for the end of a message: its last lines, after
  /// which nothing is read, or those that no earlier call gave. Empty where it wrote none.
  std::string LastWords();
  std::string UnseenWords();

  /// See Worker.
  std::optional<uint64_t> TakePeakMemory();
  std::optional<uint64_t> ResidentMemory() const;

 private:
  WorkerProcess() = default;
  std::optional<int> Reap();

  pid_t pid_ = -1;
  UniqueFd process_;                   // pidfd
  std::unique_ptr<StderrRelay> said_;  // of a process
  std::thread thread_;
};

}  // namespace vernier
