// How an output's numbers are distributed over the iterations of a pair.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "vernier/row_record.h"
#include "vernier/run_record.h"

namespace vernier {

struct OutputComparison;

/// Between two neighbours as NumPy does it, and without making NaN of infinities.
double BetweenNumbers(double low, double high, double share);

/// Quantiles are exact: all numbers are kept, in 8 bytes each, but for 0 and the first one, which
/// are counted. They do not depend on the order in which iterations are added.
class IterationQuantiles {
 public:
  /// One more iteration: its errors, and the numbers of the functions that it was compared by.
  void Add(const OutputComparison& output, const OutputRow& row);

  /// Of each number that at least two iterations have.
  std::vector<QuantilesRecord> Quantiles() const;

 private:
  struct Series {
    int64_t zeros = 0, nan = 0;
    std::optional<double> usual;
    int64_t usual_count = 0;
    std::vector<double> others;
  };
  void AddTo(std::string_view statistic, std::optional<double> value);
  static std::vector<double> Sorted(const Series& series);

  std::vector<std::pair<std::string_view, Series>> series_;  // names live as long as the program
};

}  // namespace vernier
