// A debugging session: iterations that are checked one after another, in Polygraphy's words, with
// its files. An interrupted session is resumed from its replay.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "debug/check_command.h"
#include "model/onnx/onnx_model.h"
#include "util/files/atomic_file.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// A short text that is the same for the same parts, in any order, of the same model: of its bytes,
/// to which external data does not belong.
class Fingerprints {
 public:
  explicit Fingerprints(const OnnxModel& model);

  std::string Of(std::vector<std::string_view> parts) const;

 private:
  std::string model_;
};

/// One model, or one engine, that is to be checked.
struct DebugTrial {
  std::function<Status(const std::string& path)> make;  ///< writes it
  /// What it is made of, in short: a replay only applies to the same. Empty: not known.
  std::string fingerprint = {};
  bool may_fail = false;  ///< a kBackend error of `make` is a failed iteration, not the end
  CheckCommand::Change change = {};  ///< of the plan of our own `run`
};

struct DebugSessionPlan {
  CheckPlan check;
  std::string suffix;    ///< distinguishes its iterations in replays and artifacts
  std::string artifact;  ///< each iteration's own file; empty: the tool makes none
  bool keep_artifact = false;
  std::string info_path;                 ///< names the iteration for the check; empty: not written
  std::string save_replay, load_replay;  ///< what was found out so far; empty: none
  std::vector<std::string> artifacts;    ///< that checks leave, to be sorted
  std::string artifacts_folder = "polygraphy_artifacts";  ///< where to
  std::vector<std::string> outputs;  ///< files that are written at the end: tried when it begins
  size_t jobs = 1;                   ///< checks at once, at least 1
};

class DebugSession {
 public:
  /// kInvalidArgument, as CheckCommand::Make, for a file that is in the way, and for jobs that the
  /// check cannot distinguish; kMalformed for a replay that cannot be read; kIo where the result
  /// could not be written. `interrupted` and `log` must outlive it.
  static Result<DebugSession> Open(DebugSessionPlan plan, const std::atomic<int>& interrupted,
                                   Logger& log);

  /// Where each iteration's own file goes; empty where the tool makes none.
  const std::string& artifact() const { return plan_.artifact; }
  /// Are files of checks sorted?
  bool sorts_artifacts() const { return !plan_.artifacts.empty(); }

  CheckCommand& check() { return check_; }
  const CheckCommand& check() const { return check_; }
  size_t jobs() const { return plan_.jobs; }
  /// Whatever --jobs said.
  void RunOneByOne();

  /// Of these trials the first that passes, or that fails. So many as there are jobs are checked at
  /// once; none of those after it is begun. A trial in the replay is not checked again. Errors of
  /// `make` and of the check.
  Result<std::optional<size_t>> FirstThat(std::span<const DebugTrial> trials, bool passes);

  /// One iteration: whether it passed.
  Result<bool> Passes(const DebugTrial& trial);

  /// Polygraphy's last line about iterations.
  void Finish() const;

  /// Answers from --load-debug-replay; trials that it contains cost no check.
  size_t known() const { return known_.size(); }
  int64_t iterations() const { return static_cast<int64_t>(replay_.size()); }

 private:
  // What is known of an iteration.
  struct Entry {
    std::string key, fingerprint;
    bool success = false;
  };
  // An iteration whose check may still run.
  struct Begun {
    size_t number;  // from 0
    std::string path;
    std::chrono::steady_clock::time_point begin;
    std::optional<CheckCommand::Running> check;
    bool failed = false;  // could not be made
  };

  DebugSession(CheckCommand check, DebugSessionPlan plan, Logger& log)
      : check_(std::move(check)), plan_(std::move(plan)), log_(log) {}

  Status CheckFiles() const;
  Status CheckJobs() const;
  Status LoadReplay(const std::string& path);
  Status SaveReplay(const std::string& infix, Durability durability) const;
  Status WriteIterationInfo(size_t number) const;
  Status SortArtifacts(bool passed, const std::string& key) const;
  std::string PathOf(size_t job) const;
  const Entry* Known(const Entry& entry) const;
  Result<Begun> Begin(const DebugTrial& trial, size_t job);
  Status Make(const DebugTrial& trial, Begun& begun);
  Status End(Begun begun);

  CheckCommand check_;
  DebugSessionPlan plan_;
  Logger& log_;
  std::string started_;
  std::vector<Entry> replay_;  // in order
  std::vector<Entry> known_;   // from plan_.load_replay
};

}  // namespace vernier
