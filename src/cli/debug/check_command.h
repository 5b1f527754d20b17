// What says whether an iteration of a debugging session is good: a command, or our own `run`.
#pragma once

#include <regex>
#include <span>
#include <string>
#include <vector>

#include "cli/arg_parser.h"
#include "cli/batch/child_run.h"
#include "util/log.h"
#include "util/scratch_folder.h"
#include "vernier/status.h"

namespace vernier {

/// The end of a command line: --check with all words behind it, as the peer's parser takes it, or
/// the options of `run` behind "--". Both are empty when there is neither.
struct CheckWords {
  std::vector<std::string> command, run_options;
};

/// Takes these words out of a command line.
CheckWords TakeCheckWords(std::vector<std::string>& words);

class CheckCommand {
 public:
  /// The command of the words, or `vernier run ARTIFACT` with the options. kInvalidArgument for a
  /// pattern that is none, and where there are no words; `artifact` empty: a command is needed.
  static Result<CheckCommand> Bind(const ParsedArgs& args, CheckWords words,
                                   const std::string& artifact);

  /// Does it name the artifact, so that it can be given another one?
  bool Names(const std::string& artifact) const;

  /// A check on its way.
  struct Running {
    ChildRun run;
    ScratchFolder said;  ///< has its stdout and stderr
  };

  /// Starts the command with `artifact` in the place of `own` in its words. kInvalidArgument for
  /// a command that cannot be started.
  Result<Running> Start(const std::string& own, const std::string& artifact, Logger& log) const;

  /// Waits for the check and judges it by the peer's rules; patterns are looked for line by line.
  /// Tells what it said if it failed, or always if that was asked for. Our own `run` passes with
  /// exit code 0 and fails with any other, but that a command line that it does not take and a
  /// backend that is not there are errors: kInvalidArgument, kUnavailable. kCancelled.
  Result<bool> Finish(Running running, Logger& log);

  /// From now on our own `run` only fails with the exit code that it first failed with: what fails
  /// otherwise is another fault.
  void HoldOnToFault() { same_fault_ = true; }

 private:
  bool Judge(int code, const std::string& said) const;
  Result<bool> JudgeOwnRun(int code, const std::string& said, Logger& log);

  std::vector<std::string> words_;
  std::vector<int64_t> fail_codes_, ignored_codes_;
  std::vector<std::regex> patterns_;
  bool own_run_ = false, same_fault_ = false;
  int fault_ = 0;  // the first exit code that our own run failed with
  bool show_always_ = false, hide_failures_ = false;
};

/// Runs this program with these words, the first being `run`, and waits. The errors are those of
/// the run, in the words of its last critical line.
Status RunToTheEnd(std::vector<std::string> words);

}  // namespace vernier
