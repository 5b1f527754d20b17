// `vernier run` within this process, again and again: what loaded a framework stays alive between
// two runs.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/arg_parser.h"
#include "cli/option_table.h"
#include "run/caller_objects.h"
#include "run/exit_code.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

class LiveRun {
 public:
  /// `log` gets, as verbose lines, what the runs say; with `show`, as they say it. It must outlive
  /// this.
  LiveRun(Logger& log, bool show);
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// The plan of `vernier run WORDS`. A reference is told from what is compared with it by the
  /// names of its runners. kInvalidArgument, kUnimplemented: in a process of its own it says so
  /// itself.
  enum class Side : uint8_t { kReference, kCandidate };
  Result<RunPlan> Plan(const std::vector<std::string>& words, Side side) const;

  /// Whether the plan asks for no more than can be done here: reports, records and pictures are
  /// made by a process of their own.
  static bool CanRun(const RunPlan& plan);

  struct Outcome {
    int code = 0;        ///< as the process would end
    std::string reason;  ///< why, if not with 0; of a mismatch empty
    std::string said;    ///< what it logged, with `show` only
  };
  /// kCancelled. Runs with frameworks that are loaded already, or loads them.
  Result<Outcome> Run(const RunPlan& plan);

  /// Is told of every run.
  void OnEnd(std::function<void(const RunRecord&)> told) { on_end_ = std::move(told); }

  /// What runs outside of this class need to find the same workers.
  const CallerObjects& workers() const { return caller_; }
  Logger& log();

 private:
  class Log;

  const OptionTable options_;
  const std::time_t now_;
  std::unique_ptr<Log> log_;
  KeptWorkers kept_;
  CallerObjects caller_;
  std::function<void(const RunRecord&)> on_end_;
};

}  // namespace vernier
