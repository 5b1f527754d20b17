// NumPy's ten-bin histogram, including its rounding: the bins that a value near an edge falls in
// depend on the array's own precision.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/element_blocks.h"

namespace vernier {

inline constexpr size_t kHistogramBins = 10;

/// Where the histogram's ends come from. NumPy treats the ends as numbers of the array's type when
/// it looked for them itself, but as Python floats when the caller gave them.
struct HistogramRange {
  double first = 0;
  double last = 0;
  bool given = false;
};

struct Histogram {
  std::array<int64_t, kHistogramBins> counts{};
  std::array<double, kHistogramBins + 1> edges{};
  std::string error;  ///< NumPy's reason for having none; then counts and edges are unset
};

/// Counts values that arrive as doubles, rounded to the precision of `dtype` at every step as NumPy
/// would. Integers count as float64.
class HistogramBuilder {
 public:
  HistogramBuilder(DType dtype, HistogramRange range);

  bool ok() const { return histogram_.error.empty(); }
  void Add(const double* values, size_t n);
  const Histogram& histogram() const { return histogram_; }

 private:
  enum class Precision : uint8_t { kHalf, kSingle, kDouble };

  double Round(double value) const;
  void MakeEdges();
  size_t BinOf(double value) const;

  Precision precision_;
  bool given_;
  double first_ = 0;
  double last_ = 0;
  double rounded_first_ = 0;
  double rounded_last_ = 0;
  Histogram histogram_;
};

/// The histogram of a whole array over `range`. Strings, bool and complex have none: all counts 0.
Histogram ComputeHistogram(const ElementSpan& elements, const HistogramRange& range);

}  // namespace vernier
