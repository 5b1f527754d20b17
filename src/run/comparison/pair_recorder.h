// What the record keeps of the comparisons of one pair of runners.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/tally.h"
#include "run/comparison/output_figures.h"
#include "vernier/row_record.h"
#include "vernier/run_record.h"

namespace vernier {

struct IterationComparison;
struct OutputComparison;

class PairRecorder {
 public:
  PairRecorder(std::string first, std::string second, Charts charts);

  /// Folds the next iteration, of which the rows of its outputs are given back.
  std::vector<OutputRow> Add(const IterationComparison& comparison);

  const ComparisonTally& tally() const { return tally_; }

  /// `expected_iterations`: asked for, or of the longer side. Of those without an output on either
  /// side none counts as compared.
  PairRecord Finish(int64_t expected_iterations) const;

  /// Outputs without a partner on either side, in any iteration.
  bool one_sided() const {
    return !record_.only_in_first.empty() || !record_.only_in_second.empty();
  }
  /// An iteration in which nothing could be compared although there were outputs.
  bool compared_nothing() const { return compared_nothing_; }
  /// Iterations in which neither side has an output.
  int64_t empty_iterations() const { return empty_iterations_; }
  bool vacuous() const;

 private:
  void AddOutput(const OutputComparison& output, const OutputRow& row);

  Charts charts_;
  ComparisonTally tally_;
  PairRecord record_;
  std::vector<double> kept_ratios_;  ///< by output: times over in the iteration kept
  bool compared_nothing_ = false;
  int64_t empty_iterations_ = 0;
};

}  // namespace vernier
