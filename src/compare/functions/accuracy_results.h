// The results of comparisons without their tensors, as --save-accuracy-results keeps them:
// collected during a run, and judged again with other thresholds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/accuracy_record.h"
#include "vernier/compare_function.h"
#include "vernier/status.h"

namespace vernier {

struct CompareOptions;
struct IterationComparison;

/// Empty results of the options' functions, to which pairs and comparisons are added.
AccuracyResults StartAccuracyResults(const CompareOptions& options);
void AddPair(AccuracyResults& results, const std::string& first, const std::string& second);
/// One iteration of a pair that was added; of pairs with equal names, the first, as in Polygraphy.
void AddComparison(AccuracyResults& results, const IterationComparison& comparison,
                   const CompareOptions& options);

/// Iterations in which every output passed, of all.
struct PassCount {
  int64_t passed = 0;
  int64_t total = 0;
};
PassCount CountPassed(const SavedPair& pair);

/// One result an output, in order of first appearance, each measure being its mean over the
/// iterations. kInvalidArgument, naming the output, when an iteration gave no numbers.
Result<std::vector<SavedOutput>> Averages(const SavedPair& pair);

/// The error of Averages: a bare verdict has no mean.
Status CannotAverage(std::string_view output);

/// Judges the saved metrics of `options.functions` by the options' thresholds, with
/// options.check_average on the means. kInvalidArgument in Polygraphy's words when a function has
/// no saved metrics, for elemwise, for a quantile that was not saved, and for outputs that have
/// only a bare verdict.
Result<AccuracyRecord> Reevaluate(AccuracyResults saved, const CompareOptions& options);

/// The fields that results of a function have in files, as a Python list; "[]" for none.
std::string MetricFieldList(std::optional<CompareFunction> function);

}  // namespace vernier
