#include "report/run/accuracy_summary.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "report/run/comparison_text.h"

namespace vernier {
namespace {

Severity SeverityOf(bool passed) { return passed ? Severity::kFinish : Severity::kError; }

void LogAverages(const SavedPair& pair, const std::string& prefix, Logger& logger) {
  const Result<std::vector<SavedOutput>> averages = Averages(pair);
  if (!averages.ok()) {
    logger.Critical(averages.status().message());
    return;
  }
  const auto total = static_cast<int64_t>(averages->size());
  const int64_t passed = std::count_if(averages->begin(), averages->end(),
                                       [](const auto& output) { return Passed(output.result); });
  logger.Log(SeverityOf(passed == total), prefix + "Passed: " + std::to_string(passed) + "/" +
                                              std::to_string(total) + " outputs");
  LogIndent indent(logger);
  for (const SavedOutput& output : *averages) {
    const auto* metric = std::get_if<SavedMetric>(&output.result);
    if (metric == nullptr) continue;  // `simple` is no single metric
    const double value = metric->value.value_or(std::numeric_limits<double>::quiet_NaN());
    logger.Log(SeverityOf(Passed(output.result)),
               output.name + " | " + FormatMetricLine(metric->function, value, metric->threshold));
  }
}

void LogIterations(const SavedPair& pair, const std::string& prefix, Logger& logger) {
  const PassCount count = CountPassed(pair);
  const double share =
      count.total == 0 ? 1 : static_cast<double>(count.passed) / static_cast<double>(count.total);
  char rate[32];
  std::snprintf(rate, sizeof(rate), "%.2f%%", share * 100);
  logger.Log(SeverityOf(count.passed == count.total),
             prefix + "Passed: " + std::to_string(count.passed) + "/" +
                 std::to_string(count.total) + " iterations | Pass Rate: " + rate);
}

}  // namespace

void LogAccuracySummary(const AccuracyResults& results, Logger& logger) {
  for (const SavedFunction& function : results.functions) {
    for (const SavedPair& pair : function.pairs) {
      const std::string prefix = "Accuracy Summary | " + pair.first + " vs. " + pair.second + " | ";
      if (function.averaged) {
        LogAverages(pair, prefix, logger);
      } else {
        LogIterations(pair, prefix, logger);
      }
    }
  }
}

}  // namespace vernier
