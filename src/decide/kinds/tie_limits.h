// Whether the limits of near ties distinguish right answers from wrong ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "decide/kinds/log_bins.h"
#include "decide/kinds/margin_moves.h"
#include "decide/kinds/sample_differences.h"
#include "vernier/decision_record.h"

namespace vernier {

/// The clear flips of a correct network have margins of at most this many limits of noise.
inline constexpr double kMostNoiseLimits = 4;
/// A limit below this fraction of a margin comes from values without real noise, such as those next
/// to 0: the values of the margin are never that small beside it.
inline constexpr double kLeastNoiseShare = 0x1p-24;

/// Near ties that a wrong network may have as well, or clear flips that a correct one may have.
struct DoubtfulTies {
  int64_t count = 0;
  std::string by;  ///< behind "near ties": "by the noise of the other values"; of none empty
};

/// Margins and limits of all samples of a decision, in constant memory (LogBins). A margin of 0
/// that two steps of the numbers turned around is a tie by any limit, and ignored.
///
/// **Near ties by noise, or by a bound that the output exceeds**, are doubtful. They are not
/// excused, and count as clear flips, in three cases:
///
/// 1. Most samples differ. Noise turns around less than half of the decisions between two values. A
///    sample that has less in common than `least_alike` has more turned around, and more than half
///    of the samples are such.
/// 2. Boxes are lost and not invented, or the reverse: as many on both sides of a score are equally
///    likely to cross it. A sign test excludes that (p < 1e-6), and the difference is more than 5 %
///    of the boxes, which biased rounding does not reach.
/// 3. The noise is the sample's alone: its limit is more than ten times the furthest that the
///    margin of any agreeing sample has moved. This needs 30 such samples, and a margin above 1:
///    the margins of a confident softmax do not move whatever its logits do.
///
/// Rounding may make ties of most samples, so near ties within two steps of the numbers stay
/// (by_noise and over_bound).
///
/// **A near tie by an error bound** is doubtful in three cases:
///
/// 1. The output is over its bound (DecisionSample::over_bound).
/// 2. Its limit is wider than the median margin, so it distinguishes hardly any decisions.
/// 3. The bound does not explain so many. The limit is 2 * 12 times the largest root mean square r
///    that the bound allows (error_bound.h). The two deciding values differ by a Gaussian of
///    sqrt(2) r, or of twice that in rows of large values. If margins are spread evenly below the
///    limit L, rounding turns around at most sqrt(2) * 2 r / (sqrt(2 pi) L) = 4.7 % of the samples
///    below it. More than 5 % are doubtful where chance gives as many with a probability below
///    0.001 (Poisson). This needs samples with one margin each.
///
/// **A clear flip** is doubtful in four cases:
///
/// 1. A correct output may exceed the bound by which the flip is clear
///    (DecisionSample::over_bound).
/// 2. It is clear by the noise of the other values, and within four times that limit: such noise is
///    not that of each value, as rounding is larger for larger ones. If the sample has too few
///    other values to show any noise, the limit is that of its batch, or of the logits of sigmoids
///    (by_noise and over_bound).
/// 3. It is clear by a bound that proves nothing, its sample has no noise, and the margin of an
///    agreeing sample moves by half of its own or more.
/// 4. It is within four times the limit by which the margins of agreeing samples differ between the
///    sides, or within two steps where these differ by one or two steps of a grid alone; or neither
///    the sample nor these margins have any noise, since there are no such samples.
///
/// If the sample has no noise, what is below the limit of case 4 is no clear flip at all: see
/// near_by_moves(). If near ties are not excused, clear flips are not doubtful either.
class TieLimits {
 public:
  /// `least_alike`: see above, of DecisionSample::similarity; 0: noise may turn around anything.
  explicit TieLimits(double least_alike = 0);

  void Add(const DecisionSample& sample);
  /// `one_margin`: the margin of a sample is that of one decision, not the least of many.
  DoubtfulTies Doubtful(bool one_margin) const;
  DoubtfulTies DoubtfulClear() const;

  /// Flips that are clear only since their samples have no noise: they are near ties if the margins
  /// of samples that agree move by as much between the sides.
  int64_t near_by_moves() const;
  bool IsNearByMoves(const DecisionSample& sample) const;

  /// Near ties that are clear flips by what the samples of the run show together.
  int64_t clear_by_run() const;
  bool IsClearByRun(const DecisionSample& sample) const;

 private:
  // Near ties, by what makes them near.
  struct NearTies {
    int64_t bounded = 0;  // in `limits`
    LogBins limits;       // of those by a bound that nothing else speaks against
    int64_t by_noise = 0;
    LogBins alike_noise;   // limits of those by noise, but for steps
    LogBins unlike_noise;  // the same of unlike samples
    int64_t over_bound = 0;
    int64_t unlike_over_bound = 0;  // of over_bound
  };

  // Clear flips, by what their margins are compared with.
  struct ClearFlips {
    LogBins unmeasured;      // margins of those without any noise
    LogBins explained;       // of them, those that the noise of their batch explains
    LogBins far;             // beyond four times the noise
    LogBins unproven;        // by a bound, of samples without noise
    int64_t over_bound = 0;  // by another bound
    int64_t by_noise = 0;    // and within four times the limit
  };

  void AddNear(const DecisionSample& sample);
  void AddClear(const DecisionSample& sample);
  // Beyond which the noise of a sample is not that of the run; infinity: not known.
  double LimitByRun() const;
  // Whether the margins of samples that agree say anything of those that do not.
  bool MovesCount() const { return !differences_.MostFlip() && !differences_.AreOneSided(); }
  double LimitByNoise() const { return MovesCount() ? moves_.LimitByNoise() : 0; }
  double LimitByMoves() const {
    return MovesCount() ? std::max(moves_.LimitByNoise(), moves_.LimitByGrid()) : 0;
  }
  int64_t CountWide() const;
  bool AreTooMany() const;

  SampleDifferences differences_;
  MarginMoves moves_;              // of samples that agree
  LogBins margins_;                // of all, above 0
  bool has_large_margin_ = false;  // above 1
  NearTies near_;
  ClearFlips clear_;
};

}  // namespace vernier
