// Element by element differences of two arrays, in Polygraphy's arithmetic except that integers are
// exact. A is the first ("candidate") side of a pair, B the second one, by which the relative
// difference divides.
//
//   both sides small floats or bool with one of them a float   float32 operations
//   float64, or a float and an integer                         float64 operations
//   integers                                                   exact magnitude, float64 quotient
//   bool and bool, string and string                           1 where they differ, else 0
//   a complex side                                             |a - b| and its quotient, float64
//
// A floating zero in B counts as 2^-52 in the quotient; an integer zero stays, so the quotient is
// infinite or NaN. (Polygraphy wraps around in int32, int64 and uint64 and fails on complex numbers
// and strings.)
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/elements/element_blocks.h"
#include "kernels/measures/histogram.h"
#include "kernels/measures/statistics.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct DifferenceRule {
  double atol = 0;
  double rtol = 0;
  /// Equal infinities differ by 0 instead of NaN. Float32 differences then divide in float64, as
  /// Polygraphy's do.
  bool infinities_equal = false;
  /// Finite floats whose difference is too large for their type have a relative difference all the
  /// same: of 1e308 from -1e308 it is 2, where Polygraphy's is infinite.
  bool halves_where_needed = false;
  /// Integers of 64 bits are subtracted from floats as they are. Polygraphy's are rounded to
  /// float64 first.
  bool exact_integers = false;
};

struct DifferenceSummary {
  int64_t count = 0;
  /// Elements outside both tolerances. NaN is outside; a difference equal to a tolerance is inside.
  int64_t mismatches = 0;
  int64_t first_mismatch = -1;
  /// Floating zeros in B, which counted as 2^-52.
  int64_t zeros_in_b = 0;
  /// The worst element by how many times it exceeds its nearer tolerance; at most 1 if none fails,
  /// then an upper bound. NaN differences count as infinite.
  double worst_ratio = 0;
  /// The dtypes of the arrays of differences that Polygraphy would have.
  DType absolute_dtype = DType::kUndefined;
  DType relative_dtype = DType::kUndefined;
  ValueStatistics absolute;
  ValueStatistics relative;
};

/// kInvalidArgument for a string against something else, or an undefined type. Both spans must have
/// the same count. Reads both arrays twice (float32), or at most four times more (64-bit types).
Result<DifferenceSummary> SummariseDifferences(const ElementSpan& a, const ElementSpan& b,
                                               const DifferenceRule& rule,
                                               std::span<const double> quantiles);

/// The differences themselves, as one-dimensional tensors of the dtypes named in the summary
/// (integers: uint64).
struct DifferenceArrays {
  Tensor absolute;
  Tensor relative;
};
Result<DifferenceArrays> MakeDifferences(const ElementSpan& a, const ElementSpan& b,
                                         const DifferenceRule& rule);

/// The places of up to `limit` elements outside both tolerances, in order.
Result<std::vector<int64_t>> FindMismatches(const ElementSpan& a, const ElementSpan& b,
                                            const DifferenceRule& rule, size_t limit);

/// Differences in a run of elements, as float64 (integers beyond 2^53 are rounded).
struct DifferenceBlock {
  int64_t start = 0;
  std::span<const double> absolute;
  std::span<const double> relative;
};
using DifferenceVisitor = std::function<void(const DifferenceBlock&)>;

/// Shows `visit` the differences of the elements [first, first + count), block by block and in
/// order, without an array of them. The range must lie within both arrays. kInvalidArgument as
/// SummariseDifferences.
Status VisitDifferences(const ElementSpan& a, const ElementSpan& b, const DifferenceRule& rule,
                        int64_t first, int64_t count, const DifferenceVisitor& visit);

struct DifferenceHistograms {
  Histogram absolute;
  Histogram relative;
};
/// `summary` must be that of the same arrays and rule: its extrema are the ranges. `pool` may be
/// null.
Result<DifferenceHistograms> MakeDifferenceHistograms(const ElementSpan& a, const ElementSpan& b,
                                                      const DifferenceRule& rule,
                                                      const DifferenceSummary& summary,
                                                      ThreadPool* pool = nullptr);

}  // namespace vernier
