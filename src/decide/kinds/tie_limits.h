// Whether the limits of near ties distinguish right answers from wrong ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

/// Margins and limits of all samples of a decision, in constant memory: bins of an eighth of an
/// octave. A margin of 0 that two steps of the numbers turned around is a tie by any limit, and
/// ignored.
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
  void AddClear(const DecisionSample& sample);
  void AddBoxes(const BoxCounts& boxes);
  bool MostFlip() const;
  bool MostDiffer() const;
  bool AreOneSided() const;
  // Beyond which the noise of a sample is not that of the run; infinity: not known.
  double LimitByRun() const;
  /// Two deviations of what moves the margins of samples that agree; 0: not known, or none.
  double LimitByNoise() const;
  /// Two steps, where these move by steps of a grid: integers of which most are equal have no
  /// median that says so. 0: they do not.
  double LimitByGrid() const;
  double LimitByMoves() const { return std::max(LimitByNoise(), LimitByGrid()); }
  int64_t CountWide() const;
  bool AreTooMany() const;

  double least_alike_;
  std::vector<int64_t> margins_;  // above 0
  std::vector<int64_t> limits_;   // of near ties by a bound that nothing else speaks against
  int64_t counted_ = 0;           // margins that are numbers, 0 included
  int64_t bounded_ = 0;           // in limits_
  int64_t by_noise_ = 0;
  int64_t over_bound_ = 0;
  int64_t unlike_ = 0;                 // samples below least_alike_
  int64_t unlike_over_bound_ = 0;      // of over_bound_
  std::vector<int64_t> alike_noise_;   // limits of near ties by noise, but for steps
  std::vector<int64_t> unlike_noise_;  // those of samples below least_alike_
  BoxCounts boxes_;
  double most_move_ = 0;             // in moves_
  bool has_large_margin_ = false;    // above 1
  std::vector<int64_t> moves_;       // of samples that agree: between the margins of the sides
  std::vector<int64_t> unmeasured_;  // margins of clear flips without any noise
  std::vector<int64_t> explained_;   // those of them that the noise of their batch explains
  std::vector<int64_t> far_;         // of clear flips beyond four times the noise
  std::vector<int64_t> unproven_;    // of those by a bound whose samples have no noise
  int64_t agreeing_ = 0;             // in moves_: but for those of a softmax that is sure
  int64_t flips_ = 0;                // with a margin
  int64_t clear_over_bound_ = 0;
  int64_t clear_by_noise_ = 0;  // and within four times the limit
};

}  // namespace vernier
