#include "session/run/run_session.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "compare/functions/measurement.h"
#include "core/version.h"
#include "report/files/report_files.h"
#include "report/run/run_reporter.h"
#include "report/text/run_summary.h"
#include "run/comparison/decision_run.h"
#include "run/engine/shared_timings.h"
#include "run/runner/model_graph.h"
#include "session/blame/flip_blame.h"
#include "session/blame/step_blame.h"
#include "session/plan/plan_devices.h"
#include "util/files/atomic_file.h"
#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Logs the run, and passes on what the caller observes.
class SessionObserver final : public RunObserver {
 public:
  SessionObserver(const RunPlan& plan, const SessionContext& context)
      : reporter_(context.logger, plan, !context.show_progress),
        events_(context.events),
        compares_(plan.pairs.rule != PairRule::kNamed || !plan.pairs.named.empty()) {}

  ComparisonDetail DetailWanted() override { return reporter_.DetailWanted(); }
  void FeedMade(int64_t iteration, const TensorMap& feed) override {
    if (events_.feed_made) events_.feed_made(iteration, feed);
  }
  void OutputsMade(int64_t iteration, const IterationResult& outputs) override {
    if (events_.outputs_made) events_.outputs_made(iteration, outputs);
  }
  void ComparisonsStarted(std::span<const RunnerPair> pairs) override {
    reporter_.ComparisonsStarted(pairs);
  }
  void IterationStarted(int64_t iteration) override {
    if (compares_) reporter_.IterationStarted(iteration);
  }
  void PairCompared(const IterationComparison& comparison) override {
    reporter_.PairCompared(comparison);
  }
  void PairFinished(const RunnerPair& pair, const ComparisonTally& tally) override {
    reporter_.PairFinished(pair, tally);
  }
  void OutputValidated(const std::string& runner, int64_t iteration, const NamedTensor& output,
                       const Validation& validation) override {
    reporter_.OutputValidated(runner, iteration, output, validation);
  }
  void ValidationStarted(const std::vector<std::string>& runners) override {
    reporter_.ValidationStarted(runners);
  }
  void ValidationFinished(bool valid) override { reporter_.ValidationFinished(valid); }
  void Waiting(std::optional<double> seconds) override { reporter_.Waiting(seconds); }
  void Progress(int64_t done, int64_t total) override {
    reporter_.Progress(done, total);
    if (events_.progress) events_.progress(done, total);
  }

  RunReporter& reporter() { return reporter_; }

 private:
  RunReporter reporter_;
  const SessionEvents& events_;
  const bool compares_;
};

void Note(const Status& status, Logger& logger, RunFaults& faults) {
  if (status.ok()) return;
  logger.Critical(status.message());
  faults.Add(status);
}

void WriteReports(const SavePlan& plan, const RunRecord& record, Logger& logger,
                  RunFaults& faults) {
  for (const ReportFile& report : plan.reports) {
    logger.Info("Saving report to " + report.path);
    Note(WriteReport(report, record), logger, faults);
  }
}

// The reports of a shard that is not whole would take the place of those that belong to the part of
// an earlier run, which stays.
bool BelongToAnEarlierPart(const RunPlan& plan, const RunRecord& record) {
  const auto is_part = [](const auto& saved) { return saved.first == "part"; };
  std::error_code ignored;
  return plan.shard.wanted() && std::ranges::none_of(record.saved, is_part) &&
         std::filesystem::exists(plan.save.record, ignored);
}

std::string ToleranceOf(const CompareOptions& compare, const std::string& output) {
  if (HasAutoTolerance(compare, output)) return " (auto)";
  const Tolerances tolerances = TolerancesFor(output, compare);
  return " (rel=" + FormatG(tolerances.relative, 5) + ", abs=" + FormatG(tolerances.absolute, 5) +
         ")";
}

// The output that is furthest out of the run's tolerance, for a sentence of blame; empty: all
// match.
std::string FurthestOut(const RunRecord& record, const CompareOptions& compare) {
  const OutputRecord* worst = nullptr;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      if (!HasFailed(output)) continue;
      const double times = output.worst_times_tolerance;
      if (worst == nullptr || times > worst->worst_times_tolerance) worst = &output;
    }
  }
  if (worst == nullptr) return "";
  const std::string name = "output '" + worst->name + "'";
  if (!worst->tolerances_checked || worst->mismatches == 0) {
    return name + " fails the comparison of the run";
  }
  const double times = worst->worst_times_tolerance;
  return name + " is " +
         (std::isinf(times) ? std::string("infinitely far") : FormatG(times, 3) + " times") +
         " over the tolerance of the run" + ToleranceOf(compare, worst->name);
}

// A layer that is to blame fails a run whose outputs match; its verdict needs the reason.
std::string OnlyBlamed(const BlamePlan& plan, const BlameRecord& blame) {
  if (!plan.failed.empty() || blame.culprits.empty()) return "";
  const BlameCulprit& first = blame.culprits.front();
  return "--blame: " + first.node + " (" + first.op_type +
         ") is over its error bound, although the outputs match";
}

// Saves what a search found, and writes the plan's reports.
BlameOutcome FinishBlame(const BlamePlan& plan, const SessionContext& context,
                         BlameOutcome outcome) {
  BlameRecord& record = outcome.record;
  record.exit_code = ExitCode(outcome.faults, context.as_polygraphy);
  if (!plan.save.empty()) {
    Note(WriteFileAtomically(plan.save, ToJson(record)), context.logger, outcome.faults);
  }
  if (context.blamed) context.blamed(record);
  if (!plan.run.save.reports.empty()) {
    RunRecord page = RecordOf(record);
    page.origin = context.origin;
    if (plan.run.save.WantsPage()) page.graph = FindModelGraph(plan.run);
    WriteReports(plan.run.save, page, context.logger, outcome.faults);
  }
  record.exit_code = ExitCode(outcome.faults, context.as_polygraphy);
  return outcome;
}

// With --on-flips the run has the inputs to search with already.
BlameOutcome BlameRun(const BlamePlan& plan, const SessionContext& context, const RunOutcome& ran) {
  if (!plan.on_flips) return CarryOutBlame(plan, context);
  return FinishBlame(plan, context, SearchFlips(plan, ran, context.logger, context.interrupted));
}

void BlameAfterwards(const RunPlan& run, const SessionContext& context, RunOutcome& outcome) {
  BlamePlan plan{*run.blame, run, {}, {}};
  // Reports cover both, and are written last.
  plan.run.save.reports.clear();
  plan.charts = run.save.WantsPage();
  plan.failed = FurthestOut(outcome.record, run.compare);
  BlameOutcome blame = BlameRun(plan, context, outcome);
  if (std::string why = OnlyBlamed(plan, blame.record); !why.empty() && !outcome.faults.mismatch) {
    outcome.record.rejections.push_back(std::move(why));
  }
  if (!blame.record.layers.empty() || blame.record.on_flips) {
    outcome.record.blame = std::make_shared<const BlameRecord>(std::move(blame.record));
  }
  // Layers are found by their elements.
  if (JudgeOf(run) == JudgeRule::kDecisions) blame.faults.mismatch = false;
  outcome.faults.Add(blame.faults);
}

// So that it is not lost if the process dies. An error of writing is reported at the end.
void KeepAsMeasured(const std::string& path, const std::string& command, RunRecord record) {
  record.command = command;
  record.version = kVersion;
  record.error = "incomplete: the process ended before all measurements were taken";
  (void)WriteFileAtomically(path, ToJson(record));
}

}  // namespace

RunOutcome CarryOutRun(const RunPlan& given, const SessionContext& context) {
  RunPlan plan = given;
  // The search builds engines of the same model.
  const std::optional<ScratchFolder> timings =
      plan.blame ? ShareTimings(plan.runners) : std::nullopt;
  if (const Status found = FindDevices(plan, context.logger); !found.ok()) {
    RunOutcome nothing;
    nothing.record.error = found.message();
    Note(found, context.logger, nothing.faults);
    FinishRecord(plan, context, nothing);
    return nothing;
  }
  SessionObserver observer(plan, context);
  RunOutcome outcome =
      ExecuteRun(plan, context.logger, observer, context.interrupted, context.caller);
  RunFaults& faults = outcome.faults;
  const bool well = !faults.any();
  Note(observer.reporter().SaveAccuracy(), context.logger, faults);
  Note(observer.reporter().FinishPictures(well), context.logger, faults);
  // Frameworks that failed would only fail again.
  const bool ran = faults.signal == 0 && !faults.backend;
  if (plan.blame && ran) BlameAfterwards(plan, context, outcome);
  FinishRecord(plan, context, outcome);
  return outcome;
}

BlameOutcome CarryOutBlame(const BlamePlan& plan, const SessionContext& context) {
  const auto execute = plan.on_flips             ? ExecuteFlipBlame
                       : plan.run.steps.wanted() ? ExecuteStepBlame
                                                 : ExecuteBlame;
  return FinishBlame(plan, context, execute(plan, context.logger, context.interrupted));
}

RunOutcome CarryOutProfile(const RunPlan& plan, ProfileOptions options,
                           const SessionContext& context) {
  if (const std::string& path = plan.save.record; !path.empty()) {
    options.keep = [&](const RunRecord& record) { KeepAsMeasured(path, plan.command, record); };
  }
  RunOutcome outcome = ExecuteProfile(plan, options, context.logger, context.interrupted);
  FinishRecord(plan, context, outcome);
  return outcome;
}

void FinishRecord(const RunPlan& plan, const SessionContext& context, RunOutcome& outcome) {
  RunRecord& record = outcome.record;
  record.command = plan.command;
  record.version = kVersion;
  record.origin = context.origin;
  if (plan.save.WantsCharts()) record.graph = FindModelGraph(plan);
  record.exit_code = ExitCode(outcome.faults, context.as_polygraphy);
  const RunRecord written = plan.save.reproducible ? Reproducible(record) : record;
  // Of a shard the part is there already.
  if (!plan.save.record.empty() && !plan.shard.wanted()) {
    Note(WriteFileAtomically(plan.save.record, ToJson(written)), context.logger, outcome.faults);
  }
  if (!BelongToAnEarlierPart(plan, record)) {
    WriteReports(plan.save, written, context.logger, outcome.faults);
  }
  record.exit_code = ExitCode(outcome.faults, context.as_polygraphy);
}

}  // namespace vernier
