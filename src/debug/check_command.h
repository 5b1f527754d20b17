// Decides whether an iteration of a debugging session is good: a command, our own `run`, the
// program that calls the library, or the user at the terminal.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "debug/live_run.h"
#include "util/files/scratch_folder.h"
#include "util/log/log.h"
#include "util/process/child_run.h"
#include "vernier/debug.h"
#include "vernier/status.h"

namespace vernier {

struct CheckPlan {
  std::vector<std::string> command;      ///< a program and its arguments
  std::vector<std::string> run_options;  ///< else: of our own `run`; both empty: the user is asked
  ModelCheck judge = {};                 ///< is asked instead of all these, where it is given
  std::vector<int64_t> fail_codes;       ///< exit codes that alone fail; empty: all but 0
  std::vector<int64_t> ignored_codes;    ///< exit codes that pass
  std::vector<std::string> fail_patterns;  ///< regular expressions for what a failing check prints
  bool show_output = false;                ///< also of checks that pass
  bool hide_failures = false;              ///< no output of those that fail
  RunReader reader = {};                   ///< of run_options
};

class CheckCommand {
 public:
  /// The command of the plan, or `vernier run ARTIFACT` with its options; where there are no words,
  /// standard input is asked. kInvalidArgument for a pattern that is none, and for options where
  /// `artifact` is empty. `interrupted` must outlive it.
  static Result<CheckCommand> Make(CheckPlan plan, const std::string& artifact,
                                   const std::atomic<int>& interrupted);

  /// Does it name the artifact, so that it can be given another one?
  bool Names(const std::string& artifact) const;

  /// A check on its way, or one that has ended.
  struct Running {
    std::optional<ChildRun> run;
    std::optional<ScratchFolder> said;  ///< has its stdout and stderr
    LiveRun::Outcome ended;             ///< where nothing was started
    std::optional<bool> answer;         ///< where the user, or the caller, was asked
  };

  /// What a check does to the plan of our own `run` before it is carried out.
  using Change = std::function<Status(RunPlan&)>;

  /// Starts the command with `artifact` in the place of `own` in its words; our own `run` is
  /// carried out here where that is possible, and ends here. kInvalidArgument for a command that
  /// cannot be started, where a change is asked of one that is not carried out here, and where
  /// standard input is closed.
  Result<Running> Start(const std::string& own, const std::string& artifact, const Change& change,
                        Logger& log) const;

  /// From now on our own `run` is carried out in this process, one after another, with frameworks
  /// that stay loaded. `log` must outlive this.
  void StayLoaded(Logger& log);

  const std::atomic<int>& interrupted() const { return *interrupted_; }

  /// Of the words of our own `run`.
  const RunReader& reader() const { return reader_; }

  /// What runs them; null without StayLoaded, and for commands.
  LiveRun* live() const { return live_.get(); }

  /// The words of our own `run` after the model; empty for commands.
  std::vector<std::string> RunOptions() const;
  void AddRunOptions(const std::vector<std::string>& words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }

  /// Waits for the check and judges it by Polygraphy's rules; patterns are looked for line by line.
  /// Logs what it printed if it failed, or always if that was asked for. Our own `run`, too, passes
  /// with exit code 0 where no rules are given, but a result that shows nothing about the model is
  /// an error: kInvalidArgument for a command line that it does not take, kUnavailable for a
  /// backend that is not there, kIo for what it cannot save, and those of LiveRun::Outcome::judged.
  /// kCancelled.
  Result<bool> Finish(Running running, Logger& log);

  /// Of the last of our own `run` that passed: the gate of a decision that is undecided all the
  /// same, in words; empty: there is none.
  const std::string& undecided() const { return undecided_; }

  /// From now on our own `run` only fails with the exit code that it first failed with: what fails
  /// otherwise is another fault.
  void HoldOnToFault() { same_fault_ = true; }

 private:
  explicit CheckCommand(const std::atomic<int>& interrupted) : interrupted_(&interrupted) {}

  bool Judge(int code, const std::string& said, Logger& log) const;
  bool JudgeOwnRun(int code, const std::string& reason, Logger& log);

  bool HasRules() const;
  Result<Running> RunHere(std::vector<std::string> words, const Change& change, Logger& log) const;

  const std::atomic<int>* interrupted_;
  RunReader reader_;
  ModelCheck judge_;
  std::vector<std::string> words_;
  std::vector<int64_t> fail_codes_, ignored_codes_;
  std::vector<std::regex> patterns_;
  bool own_run_ = false, same_fault_ = false;
  std::unique_ptr<LiveRun> live_;
  std::string undecided_;
  int fault_ = 0;  // the first exit code that our own run failed with
  bool show_always_ = false, hide_failures_ = false;
};

/// Runs this program with these words, the first being `run`, and waits. The errors are those of
/// the run, in the words of its last critical line; kCancelled.
Status RunToTheEnd(std::vector<std::string> words, const std::atomic<int>& interrupted);

/// Ok for exit code 0; else the error that the code stands for, with the reason.
Status EndOfRun(int code, const std::string& reason);

}  // namespace vernier
