// Logits: rows of unnormalised logarithms of probabilities, one a class. How far the distributions
// of two arrays of them are apart, row by row.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "kernels/classes/token_losses.h"
#include "kernels/elements/element_blocks.h"

namespace vernier {

class ThreadPool;

/// LogitRows::next: what came next is not known.
inline constexpr int64_t kNoToken = -1;
/// LogitRows::next: the row is ignored.
inline constexpr int64_t kExcludedRow = -2;

/// Where the rows ("positions") lie: class c of row (o, i) is element (o * classes + c) * inner +
/// i.
struct LogitRows {
  int64_t outer = 0;
  int64_t classes = 0;  ///< at least 1
  int64_t inner = 1;
  /// For each row the class that came next, kNoToken or kExcludedRow; classes are below `classes`.
  /// Empty: kNoToken for all.
  std::span<const int64_t> next = {};

  int64_t count() const { return outer * inner; }
};

/// The quantiles of LogitMeasures::divergence_quantiles.
inline constexpr std::array<double, 6> kLogitQuantiles = {0.01, 0.05, 0.5, 0.95, 0.99, 0.999};

/// Of LogitMeasures what is added up over the iterations of a run.
struct LogitAgreement {
  int64_t compared = 0;  ///< rows; classes that both sides mask count as equal
  /// Rows with a class that is -inf on one side alone: infinitely far apart, and in no other
  /// statistic.
  int64_t torn = 0;
  int64_t equal_top1 = 0;  ///< rows with one top-1
  /// Rows with one set of `top_k` classes; of equal logits the first are in.
  int64_t equal_sets = 0;
  /// Rows whose top-1 differ. The margin is by how much A's logit of its own top-1 exceeds that of
  /// B's. A flip is close where the margin is 0, or where it and B's own are below six times the
  /// RMS difference of the row's other classes that are not masked, see LogitNoise.
  int64_t flips = 0;
  int64_t close_flips = 0;

  /// The divergence of Kullback and Leibler, sum of p ln(p / q) in nats, of compared and torn rows.
  /// All NaN where there are none.
  double divergence_mean = std::numeric_limits<double>::quiet_NaN();
  double divergence_most = std::numeric_limits<double>::quiet_NaN();
  /// The sample's deviation over the root of its size; none of less than two rows, or infinite.
  std::optional<double> divergence_error;
};

/// P is the softmax of a row of A, Q that of B's row. The class with the largest logit is a row's
/// top-1, of equal ones the first.
struct LogitMeasures : LogitAgreement {
  int64_t positions = 0;
  // Rows that are in no statistic.
  int64_t excluded = 0;  ///< by LogitRows::next, whatever they hold
  int64_t masked = 0;    ///< all of both sides is -inf
  int64_t nan = 0;       ///< a side holds NaN
  int64_t infinite = 0;  ///< a side holds +inf, none NaN
  /// Of those compared: all logits of A are equal, and all of B, whatever these are.
  int64_t flat = 0;

  std::array<double, kLogitQuantiles.size()> divergence_quantiles = {};  ///< NumPy's "linear"
  int64_t worst_row = -1;  ///< the first with the largest divergence

  /// Root of the mean square of q - p at A's top-1; NaN where no row was compared.
  double top_probability_rms = std::numeric_limits<double>::quiet_NaN();
  int64_t top_k = 0;  ///< classes in a set: as asked for, at most all of them
  double flip_margin_mean = std::numeric_limits<double>::quiet_NaN();  ///< NaN without flips
  double flip_margin_most = std::numeric_limits<double>::quiet_NaN();
  int64_t flip_row = -1;  ///< the first with the largest margin

  /// Of the compared rows whose next token is known.
  TokenLosses tokens;

  /// No row is below 0 anywhere, and all but rows of zeros sum to 1, of 8 rows or more nearly so: a
  /// softmax was applied already.
  bool a_is_softmax = false;
  bool b_is_softmax = false;
};

/// One pass over memory, with two rows a thread beside it where the rows are scattered (inner > 1),
/// and a float64 for each row, of which the quantiles are taken. The types are float16, bfloat16,
/// float32 and float64, mixed as may be; both sides have the elements of `rows`; top_k >= 1. The
/// same bits for any number of threads. `pool` may be null.
LogitMeasures MeasureLogits(const ElementSpan& a, const ElementSpan& b, const LogitRows& rows,
                            int64_t top_k, ThreadPool* pool);

}  // namespace vernier
