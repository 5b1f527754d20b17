// What remains of comparisons without their tensors, as plain data: metrics, thresholds and
// verdicts, as --save-accuracy-results keeps them. They can be judged again by other thresholds.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "vernier/compare_function.h"

namespace vernier {

/// `simple`. Only the verdict on elements cannot be recomputed from the statistics.
struct SavedSimple {
  /// By ErrorStat, absolute then relative; NaN where a difference was. The quantile may be missing;
  /// elemwise has none.
  std::array<std::array<std::optional<double>, 2>, 5> statistics;
  std::vector<ErrorStat> checked;  ///< all of them must hold; none: does not pass
  double atol = 0;
  double rtol = 0;
  std::optional<bool> elemwise_passed;

  /// False for a statistic that is missing or NaN.
  bool Passes(ErrorStat stat) const;
};

struct SavedMetric {
  CompareFunction function = CompareFunction::kL2;
  std::optional<double> value;  ///< none: it could not be computed, and so does not pass
  double threshold = 0;         ///< in the metric's own unit and direction
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
  std::string name;  ///< in the first runner's outputs
  SavedResult result;
};
using SavedIteration = std::vector<SavedOutput>;

struct SavedPair {
  std::string first;  ///< runners by the names that they had
  std::string second;
  std::vector<SavedIteration> iterations;
};

/// One comparison function on all pairs of runners.
struct SavedFunction {
  bool averaged = false;  ///< verdicts are on means over the iterations
  std::vector<SavedPair> pairs;

  /// The function whose numbers are held; none when all verdicts are bare.
  std::optional<CompareFunction> function() const;
  /// Do all outputs pass? True of none: see AccuracyResults::checked_something().
  bool passed() const;
};

struct AccuracyResults {
  std::vector<SavedFunction> functions;

  /// Is there a verdict at all? Results without one show nothing, and must not count as a match.
  bool checked_something() const;
  bool passed() const;
};

/// Saved metrics under other thresholds.
struct AccuracyRecord {
  AccuracyResults results;  ///< only of the functions that were asked for
  /// Fields of saved functions that were not asked for, as Python lists: "['l2_norm']".
  std::vector<std::string> ignored;
  /// Functions that were requested but cannot be judged again: `indices`, `logits`.
  std::vector<CompareFunction> skipped;
};

}  // namespace vernier
