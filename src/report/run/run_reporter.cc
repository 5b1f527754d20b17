#include "report/run/run_reporter.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "compare/functions/comparator.h"
#include "report/files/accuracy_file.h"
#include "run/comparison/decision_run.h"

namespace vernier {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(100);
// A run that is over sooner needs no bound.
constexpr auto kPatience = std::chrono::seconds(1);
// Of steps: what is shown at the usual level, and what of the others is shown at all.
constexpr int64_t kMostFailed = 20;
constexpr Severity kUnasked = Severity::kVerbose;

// Once decisions are judged, elements are where no decision can be about an output.
bool ElementsAreJudged(const RunPlan& plan, const IterationComparison& comparison) {
  if (JudgeOf(plan) != JudgeRule::kDecisions) return true;
  if (plan.decisions.judge == JudgeRule::kDecisions) return false;
  return !std::ranges::all_of(comparison.outputs, [&](const OutputComparison& output) {
    return std::ranges::any_of(plan.decisions.decisions, [&](const DecisionPlan& decision) {
      return decision.output.empty() || decision.output == output.a_name;
    });
  });
}

}  // namespace

RunReporter::RunReporter(Logger& logger, const RunPlan& plan, bool no_progress)
    : logger_(logger),
      plan_(plan),
      pictures_(logger, plan),
      elements_(logger,
                [this](Severity severity) {
                  const bool to_be_asked = hushed_ && severity < Severity::kCritical;
                  if (to_be_asked) return ForwardingLog::Line{std::min(severity, kUnasked)};
                  const bool lowered = !elements_judged_ && severity == Severity::kError;
                  return ForwardingLog::Line{lowered ? Severity::kWarning : severity};
                }),
      options_(OptionsToCompare(plan)),
      comparisons_(elements_, options_, &pictures_),
      accuracy_(StartAccuracyResults(plan.compare)),
      waiting_(!no_progress),
      show_progress_(!no_progress && ::isatty(STDERR_FILENO) == 1) {}

RunReporter::~RunReporter() {
  if (progress_shown_) std::fputs("\r\033[K", stderr);
}

ComparisonDetail RunReporter::DetailWanted() {
  ComparisonDetail detail = comparisons_.Detail();
  const auto raise = [](StatisticsLevel& level, StatisticsLevel at_least) {
    level = std::max(level, at_least);
  };
  if (!plan_.save.accuracy.empty()) raise(detail.differences, StatisticsLevel::kRanks);
  if (plan_.save.WantsFigures()) {
    raise(detail.differences, StatisticsLevel::kMoments);
    raise(detail.sides, StatisticsLevel::kMoments);
    detail.distances = true;
  }
  return detail;
}

void RunReporter::ComparisonsStarted(std::span<const RunnerPair> pairs) {
  for (const auto& [first, second] : pairs) {
    comparisons_.Pair(first, second);
    AddPair(accuracy_, first, second);
  }
}

void RunReporter::PairCompared(const IterationComparison& comparison) {
  const LogArea area(logger_, log_area::kCompare);
  const bool judged = ElementsAreJudged(plan_, comparison);
  elements_judged_ = judged;
  any_judged_ |= judged;
  comparisons_.Iteration(comparison);
  if (plan_.steps.wanted() && !comparison.passed()) CountFailed();
  if (!plan_.save.accuracy.empty()) AddComparison(accuracy_, comparison, plan_.compare);
}

// An error that goes on from step to step makes an iteration of each.
void RunReporter::CountFailed() {
  if (++failed_ != kMostFailed) return;
  if (!logger_.Enabled(kUnasked)) {
    logger_.Warning(std::to_string(kMostFailed) +
                    " iterations are out of tolerance: -v shows those that follow, too");
  }
  hushed_ = true;
}

void RunReporter::PairFinished(const RunnerPair& pair, const ComparisonTally& tally) {
  // A runner that failed before anything was compared has no rate of passing.
  if (tally.iterations() == 0 && !plan_.lenient) return;
  elements_judged_ = any_judged_;
  hushed_ = false;
  comparisons_.Summary(pair.first, pair.second, tally);
  if (plan_.strict) comparisons_.Vacuous(pair.first, pair.second, tally);
}

Status RunReporter::SaveAccuracy() {
  if (plan_.save.accuracy.empty()) return {};
  logger_.Info("Saving accuracy results to " + plan_.save.accuracy);
  return WriteAccuracyResults(accuracy_, plan_.save.accuracy);
}

void RunReporter::OutputValidated(const std::string& runner, int64_t iteration,
                                  const NamedTensor& output, const Validation& validation) {
  ValidatedOutput validated;
  validated.runner = runner;
  if (iteration >= 0) validated.iteration = iteration;
  validated.validation = validation;
  const bool wants_statistics = logger_.Enabled(Severity::kInfo);
  if (wants_statistics) validated.output = DescribeOutput(output.name, output.tensor, false);
  validated.output.name = output.name;
  validated.output.tensor = output.tensor;
  ReportValidation(logger_, validated);
  if (iteration >= 0 && !validation.valid(true, true)) ReportValidationAbort(logger_, iteration);
}

void RunReporter::ValidationStarted(const std::vector<std::string>& runners) {
  ReportValidationStart(logger_, runners);
  logger_.Indent(1);
}

void RunReporter::ValidationFinished(bool valid) {
  ReportValidationEnd(logger_, valid);
  logger_.Indent(-1);
}

void RunReporter::Progress(int64_t done, int64_t total) {
  if (!show_progress_) return;
  const Clock::time_point now = Clock::now();
  if (now - start_ < kPatience || now - last_progress_ < kProgressInterval) return;
  last_progress_ = now;
  progress_shown_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (total > 0) {
    const double rest = elapsed / static_cast<double>(done) * static_cast<double>(total - done);
    std::fprintf(stderr, "\r\033[Kiteration %lld of %lld, about %.0f s left",
                 static_cast<long long>(done), static_cast<long long>(total), rest);
  } else {
    std::fprintf(stderr, "\r\033[Kiteration %lld", static_cast<long long>(done));
  }
  std::fflush(stderr);
}

}  // namespace vernier
