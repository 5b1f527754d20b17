// What remains of comparisons without their tensors: measures, thresholds and verdicts, as
// --save-accuracy-results keeps them. New thresholds can be held against them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "vernier/compare_function.h"
#include "vernier/status.h"

namespace vernier {

struct CompareOptions;
struct IterationComparison;

/// `simple`. Only the verdict on elements cannot be made again from the statistics.
struct SavedSimple {
  /// By ErrorStat, absolute then relative. The quantile may be missing; elemwise has none.
  std::array<std::array<std::optional<double>, 2>, 5> statistics;
  std::vector<ErrorStat> checked;  ///< all of them must hold
  double atol = 0;
  double rtol = 0;
  std::optional<bool> elemwise_passed;

  bool Passes(ErrorStat stat) const;
};

struct SavedMetric {
  CompareFunction function = CompareFunction::kL2;
  std::optional<double> value;  ///< none: it could not be computed, and so does not pass
  double threshold = 0;
};

/// A script's verdict, with the text that stands for it in files.
struct SavedScript {
  bool passed = false;
  std::string json;
};

/// One output in one iteration under one function. A bare verdict, where there are no numbers:
/// `indices`, differing shapes.
using SavedResult = std::variant<bool, SavedSimple, SavedMetric, SavedScript>;
bool Passed(const SavedResult& result);

struct SavedOutput {
  std::string name;
  SavedResult result;
};
using SavedIteration = std::vector<SavedOutput>;

struct SavedPair {
  std::string first;
  std::string second;
  std::vector<SavedIteration> iterations;
};

/// One comparison function on all pairs of runners.
struct SavedFunction {
  bool averaged = false;  ///< verdicts are on means over the iterations
  std::vector<SavedPair> pairs;

  /// The function whose numbers are held; none when all verdicts are bare.
  std::optional<CompareFunction> function() const;
  bool passed() const;
};

struct AccuracyResults {
  std::vector<SavedFunction> functions;

  /// Is there a verdict at all? Results without one say nothing, and must not pass for a match.
  bool checked_something() const;
  bool passed() const;
};

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

/// The measures under other thresholds.
struct Reevaluation {
  AccuracyResults results;  ///< only of the functions that were asked for
  /// Fields of saved functions that nobody asked for, as Python lists: "['l2_norm']".
  std::vector<std::string> ignored;
  /// Functions that were asked for and cannot be judged anew: `indices`.
  std::vector<CompareFunction> skipped;
};

/// Judges the saved measures of `options.functions` by the options' thresholds, with
/// options.check_average on the means. kInvalidArgument in Polygraphy's words when a function has
/// no saved measures, for elemwise, for a quantile that was not saved, and for outputs that have
/// only a bare verdict.
Result<Reevaluation> Reevaluate(AccuracyResults saved, const CompareOptions& options);

/// The fields that results of a function have in files, as a Python list; "[]" for none.
std::string MetricFieldList(std::optional<CompareFunction> function);

}  // namespace vernier
