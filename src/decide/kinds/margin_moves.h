// How far the margins of samples that agree have moved from one side to the other: the noise that
// decisions have.
#pragma once

#include <cstdint>

#include "decide/kinds/log_bins.h"

namespace vernier {

class MarginMoves {
 public:
  /// A sample that agrees, by its margins on both sides. NaN is ignored.
  void Add(double first_margin, double second_margin);

  /// Samples that were added, but for those of a softmax that is sure.
  int64_t agreeing() const { return agreeing_; }
  /// The furthest; 0: none has moved.
  double most() const { return most_; }

  /// Two deviations; 0: not known, or none.
  double LimitByNoise() const;
  /// Two steps, where margins move by steps of a grid: integers of which most are equal have no
  /// median that says so. 0: they do not.
  double LimitByGrid() const;

 private:
  LogBins moves_;
  int64_t agreeing_ = 0;  // in moves_
  double most_ = 0;
};

}  // namespace vernier
