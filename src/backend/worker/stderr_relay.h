// What a worker writes to its standard output and error: passed on at once if requested, and its
// last lines kept for the verdict when it dies or fails.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "util/files/unique_fd.h"
#include "util/log/workflow_commands.h"
#include "util/text/escape_codes.h"
#include "vernier/status.h"

namespace vernier {

/// The last lines of a text for a message: at most `max_lines`, without blank ones at the end, of a
/// longer one the last `max_line_bytes` behind "...". Control characters and what is no UTF-8
/// become '?', tabs blanks. Of a line that is written anew with '\r', the last state. Lines are
/// joined with '\n'; empty when there are none.
std::string LastLines(std::string_view text, size_t max_lines, size_t max_line_bytes);

/// What happens to the bytes of a worker.
enum class RelayRule {
  kPassOn,         ///< as they are: those of a user's own script
  kPassOnPlainly,  ///< without escape codes, unless standard output and error are terminals
  kKeep,           ///< only the last lines, for those who ask
};

/// A pipe that a thread reads, and writes to this process's standard error as `rule` says. Memory
/// does not grow with what comes through. In a GitHub workflow lines arrive whole, and none is a
/// command to it.
class StderrRelay {
 public:
  static Result<std::unique_ptr<StderrRelay>> Start(RelayRule rule = RelayRule::kPassOn);

  ~StderrRelay() { (void)Stop(); }
  StderrRelay(const StderrRelay&) = delete;
  StderrRelay& operator=(const StderrRelay&) = delete;

  /// For the process to write to. Close it here once that has been started.
  int write_end() const { return write_end_.get(); }
  void CloseWriteEnd() { write_end_.Reset(); }

  /// The last lines of what has come until now, without escape codes, and not those that an earlier
  /// call returned. Empty where lines are passed on.
  std::string TakeKept();

  /// Passes on what the pipe holds, ends the thread, and returns the last lines of all that came;
  /// the same when called again. Does not wait for processes that still hold the other end.
  std::string Stop();

 private:
  StderrRelay(RelayRule rule, UniqueFd read_end, UniqueFd write_end, UniqueFd stop);

  void Serve();
  enum class Piece { kPassedOn, kNoneNow, kNoneEver };
  Piece PassOn();
  void PassOnLines(size_t most_held);
  std::string LastOfTail() const;
  void Write(std::string_view bytes);

  const RelayRule rule_;
  const bool strips_;
  UniqueFd read_end_, write_end_;
  UniqueFd stop_;  // an eventfd: readable when Serve should end
  const bool in_workflow_ = InGitHubWorkflow();
  bool is_mute_ = false;  // our own standard error does not take any more
  std::mutex mutex_;      // for what follows
  EscapeFilter filter_;
  std::string tail_;  // without escape codes
  bool cut_ = false;  // tail_ begins within a line
  std::string held_;  // a line that is not finished, in a workflow
  std::thread thread_;
};

}  // namespace vernier
