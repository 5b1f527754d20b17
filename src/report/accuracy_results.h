// --save-accuracy-results: the metrics and verdicts of every comparison in the peer's JSON
// (AccuracyResults), for `check accuracy` and scripts.
#pragma once

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "vernier/compare_options.h"
#include "vernier/status.h"

namespace vernier {

/// Collects what comparisons found, without their tensors.
class AccuracyRecorder {
 public:
  /// `options` must outlive the recorder.
  explicit AccuracyRecorder(const CompareOptions& options) : options_(options) {}

  void AddPair(std::string first, std::string second);

  /// One iteration of a pair that was added; of pairs with equal names, the first, as in the peer.
  void Add(const IterationComparison& comparison);

  /// Writes the file in one step. kIo when that fails.
  Status Save(const std::string& path) const;

 private:
  struct Output {
    std::string name;
    FunctionResult result;  // without the arrays of its detail
  };
  using Iteration = std::vector<Output>;
  struct Pair {
    std::string first, second;
    std::vector<std::vector<Iteration>> iterations;  // by function
  };

  const CompareOptions& options_;
  std::vector<Pair> pairs_;
};

}  // namespace vernier
