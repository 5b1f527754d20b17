// One run of a batch: this program again, in a process of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "util/files/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

/// In a process that ChildRun started: has it asked to end (SIGTERM) as soon as the batch is gone,
/// however that ended, and returns how many words at the end of its command line are the batch's
/// own: commands that are shown leave them out. Elsewhere nothing, and 0.
size_t EndWithBatch();

class ChildRun {
 public:
  /// Starts `words` (the program's name first, the last `own_words` of them for EndWithBatch) with
  /// stdout and stderr going to the file `log`, in a process group of its own: Ctrl-C reaches it
  /// through Stop. It is for the thread that lives as long as the batch. kInternal.
  static Result<ChildRun> Start(const std::vector<std::string>& words, size_t own_words,
                                const std::string& log);

  /// The same of any program on PATH, with stdout and stderr going to files of their own.
  /// kInvalidArgument for a program that cannot be started.
  static Result<ChildRun> StartProgram(const std::vector<std::string>& words,
                                       const std::string& out, const std::string& err);

  ChildRun(ChildRun&& other) noexcept;
  ChildRun& operator=(ChildRun&& other) noexcept;
  /// Ends a process that still runs, and waits for it.
  ~ChildRun();

  /// Readable, for poll(), once the process has ended.
  int descriptor() const { return process_.get(); }

  /// Waits for the end: the exit code, or 128 and the signal's number.
  int Wait();

  void Stop(int signal);

 private:
  ChildRun() = default;
  // `note`: one more variable of its environment; empty: none.
  static Result<ChildRun> Spawn(const std::string& program, const std::vector<std::string>& words,
                                std::string note, const std::string& out, const std::string& err);

  pid_t pid_ = -1;
  UniqueFd process_;
};

}  // namespace vernier
