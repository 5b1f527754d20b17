// A debugging session: iterations that are checked one after another, in the peer's words, with its
// files. A session that was cut off is taken up again from its replay.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/arg_parser.h"
#include "cli/debug/check_command.h"
#include "util/log.h"
#include "vernier/status.h"

namespace vernier {

class DebugSession {
 public:
  /// `suffix` tells iterations of this tool from others in replays and names of artifacts; a tool
  /// without one makes no file for its iterations.
  /// kInvalidArgument, as CheckCommand::Bind and for a file that is in the way; kMalformed for a
  /// replay that cannot be read. `log` must outlive it.
  static Result<DebugSession> Bind(const ParsedArgs& args, std::vector<std::string> check,
                                   std::string suffix, Logger& log);

  /// Where each iteration's own file goes; empty where the tool makes none.
  const std::string& artifact() const { return artifact_; }

  /// One iteration: `make` writes the file, the check is run, artifacts are sorted. Whether it
  /// passed. An iteration that the replay knows is not run again. Errors of `make` and of the
  /// check.
  Result<bool> Iterate(const std::function<Status()>& make, std::optional<int64_t> remaining = {});

  /// The peer's last line about iterations.
  void Finish() const;

  int64_t iterations() const { return iterations_; }
  int64_t passed() const { return passed_; }

 private:
  DebugSession(CheckCommand check, std::string suffix, Logger& log)
      : check_(std::move(check)), suffix_(std::move(suffix)), log_(log) {}

  Status LoadReplay(const std::string& path);
  Status SaveReplay(const std::string& infix) const;
  Status WriteIterationInfo() const;
  Status SortArtifacts(bool passed, const std::string& key) const;

  CheckCommand check_;
  std::string suffix_;
  Logger& log_;
  std::string artifact_, info_path_, replay_path_, artifacts_folder_, started_;
  std::vector<std::string> artifacts_;
  bool keep_artifact_ = false;
  std::vector<std::pair<std::string, bool>> replay_;  // in order
  std::map<std::string, bool> known_;                 // from --load-debug-replay
  int64_t iterations_ = 0, passed_ = 0;
};

}  // namespace vernier
