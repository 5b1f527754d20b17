#include "debug/live_run.h"

#include <algorithm>
#include <span>
#include <utility>

#include "backend/worker.h"
#include "run/executor.h"
#include "util/interruption.h"

namespace vernier {
namespace {

// The record has all that is wanted.
class NoReports final : public RunObserver {
 public:
  ComparisonDetail DetailWanted() override { return {}; }
  void ComparisonsStarted(std::span<const RunnerPair>) override {}
  void IterationStarted(int64_t) override {}
  void PairCompared(const IterationComparison&) override {}
  void PairFinished(const RunnerPair&, const ComparisonTally&) override {}
  void OutputValidated(const std::string&, int64_t, const NamedTensor&,
                       const Validation&) override {}
  void ValidationStarted(const std::vector<std::string>&) override {}
  void ValidationFinished(bool) override {}
  void Progress(int64_t, int64_t) override {}
};

}  // namespace

// What is news in a single run is noise in the tenth.
class LiveRun::Log final : public Logger {
 public:
  Log(Logger& log, bool show) : log_(log), show_(show) {}

  bool Enabled(Severity severity) const override {
    return severity >= Severity::kError || (show_ && severity >= Severity::kInfo) ||
           log_.Enabled(Shown(severity));
  }
  void Write(Severity severity, std::string_view text, LogColor, bool once) override {
    if (severity >= worst_ && severity >= Severity::kError) {
      worst_ = severity;
      reason_ = text;
    }
    if (show_ && severity >= Severity::kInfo) said_ += std::string(text) + "\n";
    if (!log_.Enabled(Shown(severity))) return;
    log_.Write(Shown(severity), text, LogColor::kDefault, once);
  }
  void Indent(int levels) override { log_.Indent(levels); }

  std::string TakeReason() {
    worst_ = Severity::kUltraVerbose;
    return std::exchange(reason_, {});
  }
  std::string TakeSaid() { return std::exchange(said_, {}); }

 private:
  static Severity Shown(Severity severity) { return std::min(severity, Severity::kVerbose); }

  Logger& log_;
  const bool show_;
  Severity worst_ = Severity::kUltraVerbose;
  std::string reason_, said_;
};

LiveRun::LiveRun(Logger& log, bool show, RunReader reader, const std::atomic<int>& interrupted)
    : reader_(std::move(reader)),
      interrupted_(interrupted),
      now_(std::time(nullptr)),
      log_(std::make_unique<Log>(log, show)) {
  caller_.kept_workers = &kept_;
  caller_.keeps_outputs = true;  // what is compared with a file has to come here anyway
}

LiveRun::~LiveRun() = default;

Logger& LiveRun::log() { return *log_; }

Result<RunPlan> LiveRun::Plan(const std::vector<std::string>& words, Side side) const {
  // Python serves runners by their names: equal ones share what they loaded.
  return reader_.read(words, side == Side::kReference ? now_ - 1 : now_, *log_);
}

bool LiveRun::CanRun(const RunPlan& plan) {
  const SavePlan& save = plan.save;
  const PicturePlan& pictures = plan.pictures;
  return save.accuracy.empty() && save.record.empty() && save.reports.empty() &&
         pictures.heatmaps.empty() && pictures.error_plots.empty() && !pictures.show_heatmaps &&
         !pictures.show_error_plots && !plan.execution.in_process;
}

Result<LiveRun::Outcome> LiveRun::Run(const RunPlan& plan) {
  Outcome outcome;
  RunFaults faults;
  if (const Status status = reader_.check(plan); !status.ok()) {
    log_->Critical(status.message());
    faults.Add(status);
  } else if (plan.runners.empty() && plan.load_outputs.empty()) {
    log_->Critical("no runner is named: nothing would be checked");
    faults.usage = true;
  } else {
    NoReports nobody;
    RunOutcome ran = ExecuteRun(plan, *log_, nobody, interrupted_, &caller_);
    faults = ran.faults;
    if (on_end_) on_end_(ran.record);
  }
  VERNIER_TRY(CheckInterrupted(interrupted_));
  outcome.code = ExitCode(faults, false);
  outcome.reason = log_->TakeReason();
  outcome.said = log_->TakeSaid();
  return outcome;
}

}  // namespace vernier
