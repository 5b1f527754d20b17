// What --compare logits measured over the positions of all iterations.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/classes/logits.h"
#include "vernier/run_record.h"

namespace vernier {

/// Folds the measures of iterations, in their order, into those of all positions. Quantiles of
/// positions do not add up, and stay those of an iteration. Memory does not grow.
class LogitsTotals {
 public:
  /// Only counts, mean, standard error and maximum of the divergences are read.
  void Add(const LogitMeasures& measures);

  /// Nothing with fewer than two iterations: one has it all in its LogitsRecord.
  std::optional<LogitsTotalsRecord> Get() const;

 private:
  LogitsTotalsRecord record_ = {};
  int64_t divergences_ = 0;  // of compared and torn positions
  double mean_ = 0;
  double squares_ = 0;  // of distances from the mean
  int64_t equal_top1_ = 0, equal_sets_ = 0;
};

}  // namespace vernier
