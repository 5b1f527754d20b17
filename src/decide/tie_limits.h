// Whether the limits of near ties tell right answers from wrong ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vernier/decision_record.h"

namespace vernier {

/// A right network's clear flips have margins of so many limits of noise at most.
inline constexpr double kMostNoiseLimits = 4;
/// Limits below this share of a margin are of values that have no noise worth the name, as those
/// next to 0: none of what the margin is between is as small beside it.
inline constexpr double kLeastNoiseShare = 0x1p-24;

/// Near ties that a wrong network may have as well, or clear flips that a right one may have.
struct DoubtfulTies {
  int64_t count = 0;
  std::string by;  ///< behind "near ties": "by the noise of the other values"; of none empty
};

/// Margins and limits of all samples of a decision, in constant memory: bins of an eighth of an
/// octave. A margin of 0 that two steps of the numbers turned around is a tie by any limit, and not
/// looked at.
///
/// Near ties by noise are doubtful, and clear flips where more than half of the samples flip that
/// decide between two values each: noise turns around less than half. Rounding may make ties of
/// most, so that those by two steps of the numbers (by_noise and over_bound) stay. One by an error
/// bound is doubtful where
/// - the output is over its bound (DecisionSample::over_bound);
/// - its limit is wider than the median margin, so that it tells hardly any decision apart;
/// - the bound does not explain so many: the limit is 2 * 12 times the largest root mean square
///   that the bound allows (error_bound.h), r. The two deciding values differ by a Gaussian of
///   sqrt(2) r, or of twice that in rows of large values. If margins are spread evenly below the
///   limit L, rounding turns around the share sqrt(2) * 2 r / (sqrt(2 pi) L) = 4.7 % of the
///   samples below it at most. More than 5 % are doubtful where chance gives as many with a
///   probability below 0.001 (Poisson). This needs samples with one margin each.
///
/// A clear flip is doubtful where
/// - a right output may be over the bound that it is clear by (DecisionSample::over_bound);
/// - it is clear by the noise of the other values, and within four times that limit: such noise is
///   not that of each value, as rounding is larger for larger ones; or within four times that of
///   its batch, where it has too few other values to show any, or of the logits of sigmoids
///   (by_noise and over_bound);
/// - it is within four times the limit by which the margins of samples that agree differ between
///   the sides, or within two steps where they differ by one or two steps of a grid alone, and
///   otherwise not at all; or the sample has no noise, nor have these margins, since there are
///   none. Without noise in the sample, what is below that limit is no clear flip at all, see
///   near_by_moves().
/// Where more than half of the samples flip that decide between two values each, no noise explains
/// them: it turns around less than half.
class TieLimits {
 public:
  TieLimits();

  void Add(const DecisionSample& sample);
  /// `one_margin`: the margin of a sample is that of one decision, not the least of many;
  /// `between_two`: and of one between two values, or a value and a border.
  DoubtfulTies Doubtful(bool one_margin, bool between_two = false) const;
  DoubtfulTies DoubtfulClear(bool one_margin) const;

  /// Flips that are clear only since their samples have no noise: they are near ties if the margins
  /// of samples that agree move by as much between the sides.
  int64_t near_by_moves() const;
  bool IsNearByMoves(const DecisionSample& sample) const;

  /// Near ties by noise that are clear flips, of decisions between two values: most samples flip.
  int64_t clear_by_most() const;
  bool IsClearByMost(const DecisionSample& sample) const;

 private:
  void AddClear(const DecisionSample& sample);
  bool MostFlip() const;
  /// Two deviations of what moves the margins of samples that agree; 0: not known, or none.
  double LimitByNoise() const;
  /// Two steps, where these move by steps of a grid: integers of which most are equal have no
  /// median that says so. 0: they do not.
  double LimitByGrid() const;
  double LimitByMoves() const { return std::max(LimitByNoise(), LimitByGrid()); }
  int64_t CountWide() const;
  bool AreTooMany() const;

  std::vector<int64_t> margins_;  // above 0
  std::vector<int64_t> limits_;   // of near ties by a bound that nothing else speaks against
  int64_t counted_ = 0;           // margins that are numbers, 0 included
  int64_t bounded_ = 0;           // in limits_
  int64_t by_noise_ = 0;
  int64_t by_steps_ = 0;  // of by_noise_
  int64_t over_bound_ = 0;
  std::vector<int64_t> moves_;       // of samples that agree: between the margins of the sides
  std::vector<int64_t> unmeasured_;  // margins of clear flips without any noise
  std::vector<int64_t> explained_;   // those of them that the noise of their batch explains
  std::vector<int64_t> far_;         // of clear flips beyond four times the noise
  int64_t agreeing_ = 0;             // in moves_
  int64_t flips_ = 0;                // with a margin
  int64_t clear_over_bound_ = 0;
  int64_t clear_by_noise_ = 0;  // and within four times the limit
};

}  // namespace vernier
