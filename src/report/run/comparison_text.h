// Comparison results in Polygraphy's words. Data in, log lines out: nothing is computed here.
#pragma once

#include <string>
#include <string_view>

#include "compare/functions/comparison.h"
#include "compare/functions/tally.h"
#include "report/run/comparison_pictures.h"
#include "util/log/log.h"

namespace vernier {

struct CompareOptions;

/// Prints the comparison of runners, pair by pair and iteration by iteration. Lines start at the
/// logger's current indentation.
class ComparisonReporter {
 public:
  /// All must outlive the reporter. With `pictures`, they are drawn where Polygraphy draws its own.
  ComparisonReporter(Logger& logger, const CompareOptions& options,
                     ComparisonPictures* pictures = nullptr)
      : logger_(logger), options_(options), pictures_(pictures) {}

  /// How much CompareIteration has to compute for what this logger will show.
  ComparisonDetail Detail() const;

  /// "Accuracy Comparison | A vs. B", once per pair, before the first iteration.
  void Pair(std::string_view a_runner, std::string_view b_runner);

  /// "Iteration: 3".
  void IterationStart(int64_t index);

  /// All functions on all outputs of one pair of runners, then the outputs' own statistics. When
  /// nothing could be compared, ends with Polygraphy's critical message.
  void Iteration(const IterationComparison& iteration);

  /// "Accuracy Summary | A vs. B | ...", with the averages when the options ask for them. Returns
  /// whether everything passed; an average that cannot be formed is a critical message and false.
  bool Summary(std::string_view a_runner, std::string_view b_runner, const ComparisonTally& tally);

  /// What Polygraphy does not say: outputs whose match shows nothing, one warning each.
  void Vacuous(std::string_view a_runner, std::string_view b_runner, const ComparisonTally& tally);

 private:
  void Script(const IterationComparison& iteration);
  void Function(CompareFunction function, const IterationComparison& iteration);
  bool Output(const OutputComparison& output, const FunctionResult& result,
              const IterationComparison& iteration);
  void ShapeSteps(const OutputComparison& output, const FunctionResult& result);
  void Simple(const OutputComparison& output, const FunctionResult& result,
              const IterationComparison& iteration);
  void ErrorMetrics(const OutputComparison& output, const SimpleResult& simple, bool passed);
  void MismatchedValues(const OutputComparison& output, const SimpleResult& simple,
                        const IterationComparison& iteration);
  void Indices(const FunctionResult& result);
  void Logits(const OutputComparison& output, const FunctionResult& result);
  bool AverageSummary(const std::string& prefix, const ComparisonTally& tally);
  void UnknownNames(CompareFunction function, const IterationComparison& iteration);

  Logger& logger_;
  const CompareOptions& options_;
  ComparisonPictures* pictures_;
};

/// "<label>: <value> (tolerance: <threshold>) | PASSED": five significant digits, more where value
/// and threshold would look the same without being so.
std::string FormatMetricLine(CompareFunction function, double value, double threshold);

/// "Tolerance auto | Output: 'y' | bound 3.1e-05 of the output's scale 4.2: <why> | error 2e-06,
/// gain -1e-07 | PASSED", or how many times over the bound it is.
std::string FormatBoundLine(std::string_view name, const BoundVerdict& verdict);

}  // namespace vernier
