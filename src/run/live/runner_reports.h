// Reports about the runners of a run: lines of the log, and notes for the record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/lanes/received_bytes.h"
#include "run/workers/runner_session.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class RunnerReports {
 public:
  /// The log must outlive it.
  explicit RunnerReports(Logger& logger) : logger_(logger) {}

  Logger& logger() const { return logger_; }
  /// What had to be changed to run, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

  void Note(std::string text) { notes_.push_back(std::move(text)); }
  /// Unless it was noted before.
  void NoteOnce(const std::string& text);
  /// In front of all others.
  void NoteFirst(std::string text) { notes_.insert(notes_.begin(), std::move(text)); }

  /// Logs what the runner takes, once.
  void LogInputs(const RunnerSession& runner);
  /// Logs which bytes it received last, where that is known.
  void LogReceived(const RunnerSession& runner);
  /// After an inference with a feed that was sent to several runners as it is: they must have read
  /// the same bytes. Else that is an error of the log, and a note.
  void CheckReceived(const RunnerSession& runner, int64_t iteration);

  /// Puts the runner out of the run, with a critical line. `unseen_words` is what its worker wrote
  /// and was not logged (RunnerSession::UnseenWords, unless it is given).
  void Fail(RunnerSession& runner, const Status& why, const std::string& unseen_words);
  void Fail(RunnerSession& runner, const Status& why) { Fail(runner, why, runner.UnseenWords()); }

 private:
  Logger& logger_;
  std::vector<std::string> notes_;
  ReceivedBytes received_;
};

/// "{x [dtype=float32, shape=(2, 3)],\n y [...]}": Polygraphy's table of tensors.
std::string FormatTensorTable(const TensorMap& tensors);

/// A runner's name in the column that Polygraphy gives it.
std::string PadName(const std::string& name);

}  // namespace vernier
