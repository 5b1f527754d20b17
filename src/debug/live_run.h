// `vernier run` within this process, repeatedly: workers with a loaded framework stay alive between
// two runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/outcome/exit_code.h"
#include "run/workers/embedder.h"
#include "util/log/forwarding_log.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// Reads the words of `vernier run` as the command line does.
struct RunReader {
  /// The plan of these words, after `run`; `now` is in the names of runners without a label.
  /// kUnimplemented for what only a process of its own does.
  std::function<Result<RunPlan>(const std::vector<std::string>& words, std::time_t now,
                                Logger& log)>
      read;
  /// What is checked before a plan is carried out.
  std::function<Status(const RunPlan& plan)> check;
  /// The words without those that need two sides, for a run of one of them alone.
  std::function<std::vector<std::string>(const std::vector<std::string>& words)> without_comparison;
};

class LiveRun {
 public:
  /// `log` gets, as verbose lines, what the runs say; with `show`, as they say it. It and
  /// `interrupted` must outlive this.
  LiveRun(Logger& log, bool show, RunReader reader, const std::atomic<int>& interrupted);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// The plan of `vernier run WORDS`. A reference is distinguished from what is compared with it by
  /// the names of its runners. kInvalidArgument, kUnimplemented: in a process of its own it says so
  /// itself.
  enum class Side : uint8_t { kReference, kCandidate };
  Result<RunPlan> Plan(const std::vector<std::string>& words, Side side);

  /// Whether the plan asks for no more than can be done here: reports, records and pictures are
  /// made by a process of their own.
  static bool CanRun(const RunPlan& plan);

  struct Outcome {
    int code = 0;           ///< as the process would end
    std::string reason;     ///< why, if not with 0; of a mismatch empty
    std::string said;       ///< what it logged, with `show` only
    std::string undecided;  ///< the first gate of a decision that passed and is undecided, in words
    /// An error if the run shows nothing about its model: data that it loads are missing or do not
    /// fit, nothing was saved, or nothing was compared although no runner failed.
    Status judged = {};
  };
  /// kCancelled. Runs with frameworks that are loaded already, or loads them.
  Result<Outcome> Run(const RunPlan& plan);

  /// From now on a run of a part of the model is not judged where an output that the model itself
  /// does not have, one of `outputs`, is compared with one of another name.
  void RunsPartsOf(std::vector<std::string> outputs) { model_outputs_ = std::move(outputs); }

  /// Is called with every run.
  void OnEnd(std::function<void(const RunRecord&)> observer) { on_end_ = std::move(observer); }

  /// What runs outside of this class need to use the same workers.
  const Embedder& workers() const { return caller_; }
  Logger& log() { return log_; }

 private:
  // What runs log, as far as an outcome needs it.
  struct LoggedWords {
    Severity worst = Severity::kUltraVerbose;
    std::string reason, said;
  };
  void Keep(Severity severity, std::string_view text);

  const RunReader reader_;
  const std::atomic<int>& interrupted_;
  const std::time_t now_;
  const bool show_;
  LoggedWords logged_;  // since the last Run()
  ForwardingLog log_;
  KeptWorkers kept_;
  Embedder caller_;
  std::function<void(const RunRecord&)> on_end_;
  std::vector<std::string> model_outputs_;  // empty: runs are of whole models
};

}  // namespace vernier
