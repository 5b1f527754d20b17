// The statistics of one array: moments, extrema with their places, median and quantiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "kernels/elements/element_blocks.h"

namespace vernier {

/// Sums are in float64, blocked and compensated. NaN anywhere makes every statistic NaN; an
/// infinity makes the variance NaN and may make the mean NaN. Empty arrays follow Polygraphy: mean
/// and average magnitude NaN, quantiles infinite, everything else 0.
struct ValueStatistics {
  int64_t count = 0;
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  double mean = 0;
  double variance = 0;  ///< of the population (no degree of freedom is deducted)
  double std_dev = 0;
  double median = 0;  ///< mean of the two middle values when the count is even
  double min = 0;
  double max = 0;
  int64_t argmin = -1;  ///< first place of the minimum, or of the first NaN; -1 when empty
  int64_t argmax = -1;
  int64_t first_nan = -1;       ///< place; -1 when there is none
  int64_t first_infinite = -1;  ///< of either sign
  double average_magnitude = 0;
  std::vector<double> quantiles;  ///< in the order asked for, interpolated linearly
};

/// Statistics of values that arrive block by block, in order. After the first pass (Add), the
/// values are read again (AddAgain) as long as NextPass() asks for it.
/// T is float, double, int64_t or uint64_t.
template <typename T>
class StatisticsBuilder {
 public:
  /// `count` values will be added in all. `quantiles` lie within [0, 1].
  StatisticsBuilder(int64_t count, std::span<const double> quantiles);
  ~StatisticsBuilder();
  StatisticsBuilder(const StatisticsBuilder&) = delete;
  StatisticsBuilder& operator=(const StatisticsBuilder&) = delete;

  void Add(const T* values, size_t n);
  bool NextPass();
  void AddAgain(const T* values, size_t n);
  ValueStatistics Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The statistics of a whole array. Complex numbers count as their magnitudes; strings and
/// undefined types give a default result with the right count.
ValueStatistics ComputeStatistics(const ElementSpan& elements, std::span<const double> quantiles);

}  // namespace vernier
