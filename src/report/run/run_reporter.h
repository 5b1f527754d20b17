// A run on the console: comparisons in Polygraphy's words, and progress for a person who waits.
#pragma once

#include <chrono>

#include "compare/functions/accuracy_results.h"
#include "report/run/comparison_text.h"
#include "report/text/validation_text.h"
#include "report/text/waiting_line.h"
#include "run/outcome/run_observer.h"
#include "util/log/forwarding_log.h"
#include "vernier/run_plan.h"

namespace vernier {

class RunReporter final : public RunObserver {
 public:
  /// Both must outlive the reporter. Progress goes to stderr when that is a terminal.
  RunReporter(Logger& logger, const RunPlan& plan, bool no_progress);
  ~RunReporter() override;

  ComparisonDetail DetailWanted() override;
  void ComparisonsStarted(std::span<const RunnerPair> pairs) override;
  void IterationStarted(int64_t iteration) override {
    pictures_.IterationStart(iteration);
    comparisons_.IterationStart(iteration);
  }
  void PairCompared(const IterationComparison& comparison) override;
  void PairFinished(const RunnerPair& pair, const ComparisonTally& tally) override;
  void OutputValidated(const std::string& runner, int64_t iteration, const NamedTensor& output,
                       const Validation& validation) override;
  void ValidationStarted(const std::vector<std::string>& runners) override;
  void ValidationFinished(bool valid) override;
  void Waiting(std::optional<double> seconds) override { waiting_.Show(seconds); }
  void Progress(int64_t done, int64_t total) override;

  /// Writes the file of --save-accuracy-results.
  Status SaveAccuracy();

  /// Shows what was to be shown. Why a requested picture was not made; `well`: nothing else went
  /// wrong.
  Status FinishPictures(bool well) { return pictures_.Finish(well); }

 private:
  void CountFailed();

  using Clock = std::chrono::steady_clock;

  Logger& logger_;
  const RunPlan& plan_;
  ComparisonPictures pictures_;
  bool elements_judged_ = true;
  ForwardingLog elements_;  // of their comparison: errors that are not judged are warnings
  const Indirect<CompareOptions> options_;
  ComparisonReporter comparisons_;
  bool any_judged_ = false;
  int64_t failed_ = 0;   // iterations, of steps
  bool hushed_ = false;  // there were so many that others are logged with -v alone
  AccuracyResults accuracy_;
  WaitingLine waiting_;
  bool show_progress_;
  bool progress_shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_ = start_;
};

}  // namespace vernier
