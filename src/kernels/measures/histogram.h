// NumPy's ten-bin histogram, including its rounding: the bins that a value near an edge falls in
// depend on the array's own precision.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/elements/element_blocks.h"

namespace vernier {

class ThreadPool;

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

/// Counts in NumPy's bins of an array of `dtype`: edges and quotients are rounded to its precision
/// at every step. Integers count as float64.
class HistogramBuilder {
 public:
  HistogramBuilder(DType dtype, HistogramRange range);

  bool ok() const { return histogram_.error.empty(); }
  /// Values of the array, as they are or as doubles; in one type for all of them.
  void Add(const float* values, size_t n) { Count(values, n); }
  void Add(const double* values, size_t n) { Count(values, n); }
  /// Adds what was counted of another part of the same array.
  void Merge(const HistogramBuilder& other);
  Histogram histogram() const;

 private:
  enum class Precision : uint8_t { kHalf, kSingle, kDouble };
  static constexpr size_t kEnds = kHistogramBins + 1;

  template <typename T>
  void Count(const T* values, size_t n);
  template <typename T>
  void CountByEdges(const T* values, size_t n);
  double Round(double value) const;
  void MakeEdges();
  size_t BinOf(double value) const;

  Precision precision_;
  bool given_;
  bool edges_decide_ = false;
  double first_ = 0;
  double last_ = 0;
  double rounded_first_ = 0;
  double rounded_last_ = 0;
  std::array<int64_t, kEnds + 1>
      below_{};  ///< how many lie below each edge; then, the last at most
  Histogram histogram_;
};

/// The histogram of a whole array over `range`. Strings, bool and complex have none: all counts 0.
/// `pool` may be null.
Histogram ComputeHistogram(const ElementSpan& elements, const HistogramRange& range,
                           ThreadPool* pool = nullptr);

}  // namespace vernier
