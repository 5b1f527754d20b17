// The gates of --compare logits over the positions of all iterations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/functions/comparison.h"
#include "vernier/row_record.h"

namespace vernier {

/// Does nothing but the means of `logits` fail, its mean divergence or its share of equal top-1?
bool OnlyLogitsFail(const OutputComparison& output);

/// How the text is divided into iterations does not matter: an output passes whose mean divergence
/// and share of equal top-1 are within their thresholds over all positions, unless an iteration is
/// beyond the noise of the others. The means of the iterations are kept, 8 bytes each.
class LogitsTotalGate {
 public:
  void Add(const OutputComparison& output, const OutputRow& row, int64_t iteration);

  /// Failed iterations did so by their own means alone, and all positions together pass.
  bool Excuses() const { return failed_ && !fails_otherwise_ && Passes() && !BeyondNoise(); }

  /// A sentence on the iteration that fails although all positions together pass; empty: none.
  std::string DescribeBeyondNoise() const;

  /// A sentence on the position with the largest divergence where that is hidden by the mean: more
  /// than a hundred times the threshold, which the mean of all positions is within. Empty: none.
  std::string DescribePeak() const;

 private:
  struct Peak {
    int64_t iteration = -1;
    double divergence = 0;
    std::vector<int64_t> position;
  };
  struct Worst {
    int64_t iteration = -1;
    double mean = 0;
  };
  bool Passes() const;
  bool BeyondNoise() const { return worst_.mean > Limit(); }
  /// The largest mean that an iteration may have by itself.
  double Limit() const;

  bool failed_ = false, fails_otherwise_ = false;
  double kl_threshold_ = 0, top1_threshold_ = 0;
  double divergence_ = 0, equal_ = 0;  // sums over positions
  double positions_ = 0;
  Worst worst_;
  Peak peak_;
  std::vector<double> means_;
};

}  // namespace vernier
