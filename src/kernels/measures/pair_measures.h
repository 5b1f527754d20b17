// Everything that can be measured about two arrays, in one call and, as far as possible, in one
// pass over memory. A is the first ("candidate") side of a pair, B the second one.
//
// All results are plain data, and the same bits whatever the number of threads and the vector width
// of the machine. They do not depend on which other groups were asked for, unless a comment says
// so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/measures/difference.h"
#include "kernels/measures/products.h"
#include "kernels/measures/statistics.h"
#include "vernier/status.h"

namespace vernier {

class ThreadPool;

/// How much of a ValueStatistics to fill. What is not filled keeps its default.
enum class StatisticsLevel : uint8_t {
  kNone,     ///< only `count`
  kMoments,  ///< everything but median and quantiles, which read as NaN and empty
  kRanks,    ///< everything; costs about as much again as the moments
};

struct MeasureRequest {
  /// The verdict group is always measured: DifferenceSummary's count, mismatches, first_mismatch,
  /// zeros_in_b, worst_ratio and dtypes. If nothing else is requested, memory is read once at
  /// nearly its full speed.
  DifferenceRule rule;

  StatisticsLevel differences = StatisticsLevel::kNone;  ///< of absolute and relative differences
  StatisticsLevel sides = StatisticsLevel::kNone;        ///< of A and of B on their own
  std::vector<double> difference_quantiles;              ///< within [0, 1]; for kRanks
  std::vector<double> side_quantiles;

  bool products = false;  ///< L2, cosine similarity, PSNR, SNR, RMSE: see MakePairMetrics
  bool ulp = false;
  size_t worst = 0;  ///< so many of the worst elements
};

/// One element and how bad it is.
struct WorstElement {
  int64_t place = -1;  ///< in row-major order
  double a = 0;        ///< complex: the magnitude; strings: 0
  double b = 0;
  double absolute = 0;
  double relative = 0;
  /// Times the nearer tolerance, min(absolute / atol, relative / rtol); a NaN difference, and any
  /// difference with a tolerance of 0, is infinite.
  double ratio = 0;
};

/// Distance in units in the last place: how many representable numbers lie between, plus one if
/// different. Zeros of either sign are one number; infinity follows the largest finite one.
struct UlpDistances {
  /// Both sides have the same floating dtype of at most 64 bits. Otherwise all else is 0 or -1.
  bool applies = false;
  uint64_t max = 0;
  int64_t place_of_max = -1;  ///< the first; -1 when no element was measured
  int64_t measured = 0;       ///< elements without a NaN on either side
  int64_t different = 0;      ///< those of them whose distance is not 0
};

struct PairMeasures {
  /// Without `differences`, absolute.max and relative.max are 0 and worst_ratio of a matching pair
  /// is only known to be at most 1.
  DifferenceSummary difference;
  ValueStatistics a;
  ValueStatistics b;
  ProductSums products;
  UlpDistances ulp;
  /// Worst first: NaN differences, then by ratio, by absolute difference, by place. Elements
  /// without a difference are not listed, so there may be fewer than requested.
  std::vector<WorstElement> worst;
};

/// kInvalidArgument for a string against something else, an undefined type or different counts, as
/// SummariseDifferences; and for products of strings. Extra memory: 64 MiB at most.
/// `pool` may be null: then the calling thread does all. Small arrays never leave it.
Result<PairMeasures> MeasurePair(const ElementSpan& a, const ElementSpan& b,
                                 const MeasureRequest& request, ThreadPool* pool = nullptr);

/// The statistics of one array alone, as those of a side in MeasurePair.
ValueStatistics MeasureValues(const ElementSpan& elements, StatisticsLevel level,
                              std::span<const double> quantiles, ThreadPool* pool = nullptr);

/// Measures of a pair that follow from its ProductSums. Empty arrays: l2 0, cosine 1, the rest NaN.
struct PairMetrics {
  double l2 = 0;
  double rmse = 0;
  double cosine = 0;  ///< 1 when both sides are all zero, 0 when one is
  double psnr = 0;    ///< dB, of A's largest value (1 if that is not positive); infinite when equal
  double snr = 0;     ///< dB, A is the signal; infinite when equal, then -infinite when A is zero
};
PairMetrics MakePairMetrics(const ProductSums& sums, int64_t count);

/// The Kullback-Leibler divergence of A from B, each divided by its sum.
struct Divergence {
  /// Both sides are real numbers, finite, none below 0, and their sums are above 0.
  bool applies = false;
  /// In nats: the sum of p * log(p / q), p of A and q of B. Infinite where q is 0 and p is not.
  double a_from_b = 0;
};
/// kInvalidArgument as MeasurePair. One pass of its own: a logarithm an element.
Result<Divergence> MeasureDivergence(const ElementSpan& a, const ElementSpan& b);

}  // namespace vernier
