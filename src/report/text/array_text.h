// An array of outputs or differences as Polygraphy describes it: statistics, values, histogram.
#pragma once

#include <string>
#include <string_view>

#include "kernels/measures/histogram.h"
#include "kernels/measures/statistics.h"
#include "util/log/log.h"
#include "vernier/tensor.h"

namespace vernier {

/// The runner's name in a column of 35 (code points).
std::string PadRunner(std::string_view runner);

/// Every line of `text` shifted by four spaces.
std::string IndentBlock(std::string_view text);

/// Five significant digits; `single` where Polygraphy computed the statistic in float32.
std::string FormatStatistic(double value, bool single);

/// "mean=1, std-dev=0, ..., p99=1" of an array of that type and shape.
std::string FormatStatistics(const ValueStatistics& statistics, DType dtype, const Dims& dims);

/// The histogram as a block of text: "" for types that have none, "None" when it is empty.
std::string FormatHistogram(const Histogram& histogram, DType dtype);

/// An array with everything that may be shown of it.
struct ShownArray {
  std::string prefix;
  const ValueStatistics& statistics;
  DType dtype;
  const Dims& dims;
  const Tensor* values = nullptr;        ///< null: not computed
  const Histogram* histogram = nullptr;  ///< null: not computed
};

/// The statistics at INFO, then at `detail` the values of small arrays and the histogram.
void LogArray(Logger& logger, const ShownArray& array, Severity detail);

}  // namespace vernier
