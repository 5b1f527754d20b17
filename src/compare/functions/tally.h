// What is kept of the comparisons of one pair of runners after their iterations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/pairing/pairing.h"
#include "vernier/compare_function.h"
#include "vernier/status.h"

namespace vernier {

struct IterationComparison;

/// The sum of a metric over iterations.
struct MetricSum {
  double sum = 0;
  int64_t count = 0;

  void Add(double value) {
    sum += value;
    ++count;
  }
  /// NaN when nothing was added.
  double mean() const;
};

/// One output under one function over the iterations.
struct FunctionTally {
  CompareFunction function = CompareFunction::kSimple;
  /// simple: by ErrorStat (elemwise unused), absolute then relative; otherwise [0][0].
  std::array<std::array<MetricSum, 2>, 5> sums;
  /// Of the first iteration: averages are compared with them.
  double atol = 0;
  double rtol = 0;
  double threshold = 0;
  std::vector<ErrorStat> stats;
  /// Iterations that gave no numbers: differing shapes, failures.
  int64_t without_metrics = 0;
  int64_t not_verified = 0;  ///< those of them with Verdict::kNotVerified
};

/// One output over the iterations.
struct OutputTally {
  std::string name;
  PairedBy how = PairedBy::kExact;
  std::string partner;
  int64_t iterations = 0;
  int64_t passed = 0;
  int64_t not_verified = 0;  ///< neither passed nor mismatched: Verdict::kNotVerified
  int64_t vacuous = 0;       ///< passed without showing anything
  /// Of all such iterations, and of those that are all NaN: the first reason, or as
  /// VacuousInBoth().
  std::string vacuous_why;
  std::string failed_why;  ///< of the first comparison that could not be made
  std::vector<FunctionTally> functions;

  /// Was some function not verified in some iteration, whatever the others found?
  bool any_not_verified() const;
};

/// One output's averages under one function.
struct AverageResult {
  CompareFunction function = CompareFunction::kSimple;
  bool passed = false;
  bool not_verified = false;  ///< in some iteration: there is no mean, and it has not passed
  double value = 0;           ///< single metrics only
  double threshold = 0;       ///< single metrics only
};

struct OutputAverage {
  std::string name;
  std::vector<AverageResult> functions;
  bool passed() const;
  /// Has a mean that there is not passed?
  bool differs() const;
};

class ComparisonTally {
 public:
  void Add(const IterationComparison& iteration);

  int64_t iterations() const { return iterations_; }
  /// Without those in which neither side has an output.
  int64_t passed_iterations() const { return passed_; }
  const std::vector<OutputTally>& outputs() const { return outputs_; }

  /// For --check-average: the mean of each metric over the iterations in which the output appears,
  /// compared with the thresholds. kInvalidArgument, naming the output, when an iteration gave no
  /// numbers for another reason than that the metric was not verified.
  Result<std::vector<OutputAverage>> Averages() const;

 private:
  OutputTally& Find(const std::string& name);

  int64_t iterations_ = 0;
  int64_t passed_ = 0;
  std::vector<OutputTally> outputs_;  ///< in order of first appearance
};

}  // namespace vernier
