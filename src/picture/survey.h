// The differences of two tensors as pictures need them: read block by block, never held whole.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/measures/difference.h"
#include "picture/slices.h"
#include "vernier/status.h"

namespace vernier {

enum class ErrorKind : uint8_t { kAbsolute, kRelative };

/// The larger of two errors; NaN is larger than infinity.
double WorseError(double x, double y);

/// Two tensors of equal shape with at least one element, and the rule that compares them.
struct ErrorSource {
  ElementSpan a;
  ElementSpan b;
  DifferenceRule rule;
};

/// What one kind of error is like over the whole tensor.
struct ErrorRange {
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  int64_t zero_count = 0;
  double largest = 0;            ///< of the finite ones
  double smallest_positive = 0;  ///< of the finite ones; 0 when there is none
  double worst = 0;              ///< by WorseError
  int64_t worst_at = 0;          ///< its first element
  std::vector<double> page_worst;
};

struct ErrorSurvey {
  ErrorRange absolute;
  ErrorRange relative;
  double largest_magnitude = 0;  ///< of finite elements of B

  const ErrorRange& range(ErrorKind kind) const {
    return kind == ErrorKind::kAbsolute ? absolute : relative;
  }
};

/// One pass over both tensors. Errors are those of VisitDifferences.
Result<ErrorSurvey> SurveyErrors(const ErrorSource& source, const SliceLayout& layout);

/// The magnitudes of elements [start, start + n) as float64. Zeros for strings.
void LoadMagnitudes(const ElementSpan& elements, int64_t start, size_t n, double* out);

/// Up to `most` pages with the worst errors, in their order in the tensor.
std::vector<int64_t> WorstPages(const std::vector<double>& page_worst, size_t most);

/// A slice, its elements gathered into cells that each keep the worst of them: one bad element
/// among millions still is a bad cell.
class PooledSlice {
 public:
  /// How many of a slice's rows x columns share one cell.
  PooledSlice(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step);

  int width() const { return width_; }
  int height() const { return height_; }
  /// The cell's error; negative where there is no element.
  double At(int x, int y) const {
    return cells_[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)];
  }
  /// `element` counts within the slice, row by row.
  void Add(int64_t element, std::span<const double> errors);

 private:
  int64_t columns_;
  int64_t row_step_;
  int64_t column_step_;
  int width_;
  int height_;
  std::vector<double> cells_;
};

/// Fills the slices of one page, in order, from slice `first` on. Errors are those of
/// VisitDifferences.
Status ReadSlices(const ErrorSource& source, ErrorKind kind, const SliceLayout& layout,
                  int64_t first, std::vector<PooledSlice>& slices);

}  // namespace vernier
