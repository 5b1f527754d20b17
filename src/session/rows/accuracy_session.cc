#include "session/rows/accuracy_session.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "report/files/accuracy_file.h"
#include "report/run/comparison_text.h"
#include "run/comparison/output_names.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

std::vector<std::string> SavedOutputNames(const AccuracyResults& results) {
  std::vector<std::string> names;
  for (const SavedFunction& function : results.functions) {
    for (const SavedPair& pair : function.pairs) {
      for (const SavedIteration& iteration : pair.iterations) {
        for (const SavedOutput& output : iteration) {
          const bool known = std::find(names.begin(), names.end(), output.name) != names.end();
          if (!known) names.push_back(output.name);
        }
      }
    }
  }
  return names;
}

// What the verdict rests on. How many elements the outputs had was not saved.
void LogCoverage(const AccuracyRecord& judged, Logger& log) {
  std::set<std::string> outputs;
  size_t metrics = 0, pairs = 0, bare = 0;
  for (const SavedFunction& function : judged.results.functions) {
    pairs = std::max(pairs, function.pairs.size());
    for (const SavedPair& pair : function.pairs) {
      for (const SavedIteration& iteration : pair.iterations) {
        metrics += iteration.size();
        for (const SavedOutput& output : iteration) {
          outputs.insert(output.name);
          bare += std::holds_alternative<bool>(output.result) ? 1 : 0;
        }
      }
    }
  }
  std::string text = "checked " + Counted(metrics, "saved metric") + " of " +
                     Counted(outputs.size(), "output") + " in " + Counted(pairs, "pair") +
                     " of runners";
  if (bare > 0) text += "; bare verdicts, without a metric: " + std::to_string(bare);
  if (!judged.ignored.empty()) {
    text += "; not checked: " + Counted(judged.ignored.size(), "kind") +
            " of metrics without a threshold";
  }
  log.Info(text);
}

Severity SeverityOfAccuracy(bool passed) { return passed ? Severity::kFinish : Severity::kError; }

void LogAccuracyAverages(const SavedPair& pair, const std::string& prefix, Logger& logger) {
  const Result<std::vector<SavedOutput>> averages = Averages(pair);
  if (!averages.ok()) {
    logger.Critical(averages.status().message());
    return;
  }
  const auto total = static_cast<int64_t>(averages->size());
  const int64_t passed = std::count_if(averages->begin(), averages->end(),
                                       [](const auto& output) { return Passed(output.result); });
  logger.Log(SeverityOfAccuracy(passed == total), prefix + "Passed: " + std::to_string(passed) +
                                                      "/" + std::to_string(total) + " outputs");
  LogIndent indent(logger);
  for (const SavedOutput& output : *averages) {
    const auto* metric = std::get_if<SavedMetric>(&output.result);
    if (metric == nullptr) continue;  // `simple` is no single metric
    const double value = metric->value.value_or(std::numeric_limits<double>::quiet_NaN());
    logger.Log(SeverityOfAccuracy(Passed(output.result)),
               output.name + " | " + FormatMetricLine(metric->function, value, metric->threshold));
  }
}

void LogAccuracyIterations(const SavedPair& pair, const std::string& prefix, Logger& logger) {
  const PassCount count = CountPassed(pair);
  const double share =
      count.total == 0 ? 1 : static_cast<double>(count.passed) / static_cast<double>(count.total);
  char rate[32];
  std::snprintf(rate, sizeof(rate), "%.2f%%", share * 100);
  logger.Log(SeverityOfAccuracy(count.passed == count.total),
             prefix + "Passed: " + std::to_string(count.passed) + "/" +
                 std::to_string(count.total) + " iterations | Pass Rate: " + rate);
}

// Polygraphy's summary, for every function and pair; under averages also each output's metric.
// Averages must be possible (Reevaluate has checked that).
void LogAccuracySummary(const AccuracyResults& results, Logger& logger) {
  for (const SavedFunction& function : results.functions) {
    for (const SavedPair& pair : function.pairs) {
      const std::string prefix = "Accuracy Summary | " + pair.first + " vs. " + pair.second + " | ";
      if (function.averaged) {
        LogAccuracyAverages(pair, prefix, logger);
      } else {
        LogAccuracyIterations(pair, prefix, logger);
      }
    }
  }
}

// Was all checked that was asked for? Where Polygraphy passes in silence, it is logged.
bool CheckedAll(const AccuracyPlan& plan, const AccuracyRecord& judged, Logger& log) {
  if (!judged.results.checked_something()) {
    log.Error(
        "nothing was checked: name thresholds for metrics that the file holds, such as"
        " --check-error-stat max --atol 1e-3 or --compare l2 --l2-threshold 0.1");
    return false;
  }
  if (plan.run.lenient) return true;
  LogCoverage(judged, log);
  const std::vector<CompareFunction>& asked = plan.run.compare->functions;
  const bool dropped_simple =
      !plan.simple && std::ranges::find(asked, CompareFunction::kSimple) != asked.end();
  if (dropped_simple) {
    log.Error(
        "simple was not checked: say which statistic must be within which tolerance,"
        " such as --check-error-stat max --atol 1e-3");
  }
  for (const CompareFunction function : judged.skipped) {
    log.Error(std::string(CompareFunctionName(function)) +
              " was not checked: its verdicts cannot be made again from what was saved");
  }
  return !dropped_simple && judged.skipped.empty();
}

// The saved results under the plan's thresholds.
Result<AccuracyRecord> JudgeAgain(const AccuracyPlan& plan, Logger& log) {
  log.Info("Loading accuracy results from " + plan.path);
  VERNIER_ASSIGN_OR_RETURN(AccuracyResults saved, ReadAccuracyResults(plan.path));
  if (!plan.run.lenient) VERNIER_TRY(CheckOutputNames(plan.run, SavedOutputNames(saved)));
  CompareOptions options = plan.run.compare;
  if (!plan.simple) std::erase(options.functions, CompareFunction::kSimple);
  return Reevaluate(std::move(saved), options);
}

Status SaveResults(const AccuracyResults& results, const std::string& path, Logger& log) {
  if (path.empty()) return {};
  log.Info("Saving accuracy results to " + path);
  return WriteAccuracyResults(results, path);
}

// What was judged is in the outcome even where it could not be saved.
Status Judge(const AccuracyPlan& plan, Logger& log, AccuracyOutcome& outcome) {
  AccuracyRecord& judged = outcome.record;
  RunFaults& faults = outcome.faults;
  VERNIER_ASSIGN_OR_RETURN(judged, JudgeAgain(plan, log));
  for (const std::string& fields : judged.ignored) {
    log.Info("Ignoring saved comparison with metric fields " + fields +
             ": no matching threshold was requested.");
  }
  LogAccuracySummary(judged.results, log);
  VERNIER_TRY(SaveResults(judged.results, plan.run.save.accuracy, log));
  // Polygraphy's lines come in its order; else a verdict comes behind what it rests on.
  const bool lenient = plan.run.lenient;
  if (!lenient) faults.incomplete = !CheckedAll(plan, judged, log);
  if (!judged.results.passed()) {
    log.Error("FAILED | Accuracy results did not pass the requested thresholds.");
    faults.mismatch = true;
  } else if (judged.results.checked_something() && faults.incomplete) {
    log.Error("INCOMPLETE | What was checked passed the requested thresholds.");
  } else if (judged.results.checked_something()) {
    log.Finish("PASSED | Accuracy results passed the requested thresholds.");
  }
  if (lenient) {
    faults.incomplete = !CheckedAll(plan, judged, log);
    return {};
  }
  for (const std::string& flag : plan.picture_flags) {
    log.Error(flag + ": the file holds no tensors to draw");
    faults.unsaved = true;
  }
  return {};
}

}  // namespace

AccuracyOutcome JudgeAccuracy(const AccuracyPlan& plan, Logger& log) {
  AccuracyOutcome outcome;
  outcome.ended = Judge(plan, log, outcome);
  if (outcome.ended.ok()) return outcome;
  log.Critical(outcome.ended.message());
  // A threshold for which nothing was saved was asked for, and could not be held.
  if (outcome.ended.code() == StatusCode::kInvalidArgument) {
    outcome.faults.incomplete = true;
  } else {
    outcome.faults.Add(outcome.ended);
  }
  return outcome;
}

}  // namespace vernier
