#include "report/text/saved_text.h"

#include <optional>
#include <vector>

#include "compare/functions/comparator.h"
#include "compare/functions/metric_table.h"
#include "report/text/array_text.h"
#include "report/text/text_table.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

std::string FormatSavedTensor(const NamedTensor& named, const SavedTextOptions& options,
                              size_t level) {
  const Tensor& tensor = named.tensor;
  std::string line = "\n" + named.name + " [dtype=" + std::string(DTypeName(tensor.dtype())) +
                     ", shape=" + FormatDims(tensor.dims()) + "]";
  std::string text;
  if (options.statistics || options.histogram) {
    const OutputStatistics described = DescribeOutput(named.name, tensor, options.histogram);
    if (options.statistics) {
      line += " | Stats: " + FormatStatistics(described.statistics, tensor.dtype(), tensor.dims());
    }
    if (described.histogram) {
      text += "\n" + IndentBlock(FormatHistogram(*described.histogram, tensor.dtype()), level + 1);
    }
  }
  if (options.values)
    text += "\n" + IndentBlock(FormatNumpyArray(tensor, options.print), level + 1);
  return IndentBlock(line, level) + text;
}

using Metrics = std::vector<std::pair<std::string, std::optional<double>>>;

Metrics MetricsOf(const SavedResult& result) {
  Metrics metrics;
  if (const auto* metric = std::get_if<SavedMetric>(&result)) {
    const MetricRow* traits = FindMetric(metric->function);
    metrics.emplace_back(traits == nullptr ? "value" : std::string(traits->field), metric->value);
  }
  if (const auto* simple = std::get_if<SavedSimple>(&result)) {
    for (const ErrorStat stat :
         {ErrorStat::kMax, ErrorStat::kMean, ErrorStat::kMedian, ErrorStat::kQuantile}) {
      const std::string name(ErrorStatName(stat));
      const auto& sides = simple->statistics[static_cast<size_t>(stat)];
      metrics.emplace_back(name + "_absdiff", sides[0]);
      metrics.emplace_back(name + "_reldiff", sides[1]);
    }
  }
  return metrics;
}

std::string FormatSavedOutput(const SavedOutput& output) {
  std::string metrics;
  for (const auto& [name, value] : MetricsOf(output.result)) {
    if (!value) continue;
    metrics += (metrics.empty() ? " | " : ", ") + name + "=" + FormatG(*value, 5);
  }
  return "\n" + output.name + " | " + (Passed(output.result) ? "PASSED" : "FAILED") + metrics;
}

std::string FormatSavedPair(const SavedPair& pair, bool all_iterations) {
  const PassCount count = CountPassed(pair);
  std::string text = "\n" + pair.first + " vs. " + pair.second + " | " +
                     std::to_string(count.passed) + "/" + std::to_string(count.total) +
                     " iteration(s) matched";
  for (size_t i = 0; i < pair.iterations.size() && (i == 0 || all_iterations); ++i) {
    text += IndentBlock(FormatIterationTitle(i), 1);
    for (const SavedOutput& output : pair.iterations[i]) {
      text += IndentBlock(FormatSavedOutput(output), 2);
    }
  }
  return text;
}

}  // namespace

std::string FormatSavedTensors(const TensorMap& tensors, const SavedTextOptions& options,
                               size_t level) {
  std::string text;
  for (const NamedTensor& tensor : tensors) text += FormatSavedTensor(tensor, options, level);
  return text;
}

std::string FormatIterationTitle(size_t iteration) {
  return "\n-- Iteration: " + std::to_string(iteration);
}

std::string FormatSavedAccuracy(const AccuracyResults& results, bool all_iterations) {
  std::string text = "==== Accuracy Results (" + std::to_string(results.functions.size()) +
                     " comparison(s)) ====\n";
  for (const SavedFunction& function : results.functions) {
    text += std::string("\n---- Aggregation: ") + (function.averaged ? "average" : "per_sample") +
            " ----\n";
    for (const SavedPair& pair : function.pairs) text += FormatSavedPair(pair, all_iterations);
    text += "\n";
  }
  return text;
}

}  // namespace vernier
