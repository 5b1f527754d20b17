#include "model/rounding/error_growth.h"

#include <algorithm>
#include <cmath>

namespace vernier {
namespace {

// The same for a running sum of K products, over the square root of K.
constexpr double kSumRms = 0.3;
// What runtimes do differently in float32 (order of sums, Winograd, approximated functions) is
// known to a factor only, and a fault is far above it. Of the two short types' roundings there is
// less doubt, and less room.
constexpr double kSafetyFine = 6;
constexpr double kSafetyCoarse = 1.5;
// What is typical of float32, over what the formulas say without safety factors: runtimes sum in
// blocks.
constexpr double kTypicalFine = 0.3;
// Of the steps of quantisers: what values look like decides how many fit into a range.
constexpr double kSafetySteps = 3;
// More flips than expected are allowed until their chance is below this.
constexpr double kFlipChance = 2e-3;
// Floats near zero have smaller steps, and flip more often: differences below so many times what is
// typical, or below such a share of a step, are no sign of anything.
constexpr double kSmallTimes = 100;
constexpr double kSmallStep = 0.03;
// Large floats have larger steps, and one of them may be among few that flip.
constexpr double kLargeStep = 3;
// Rows that a row's flips go on in behind an exchange between rows, besides the weak error in all.
constexpr double kExchange = 2;
// Where so many elements flip, no row is clean.
constexpr double kManyFlips = 0.2;

double Safety(double roundoff) { return roundoff > kCoarseRoundoff ? kSafetyCoarse : kSafetyFine; }

}  // namespace

DType Coarser(DType a, DType b) { return UnitRoundoff(b) > UnitRoundoff(a) ? b : a; }

SideRoundoff RoundoffOf(DType tensor, RunnerArithmetic side) {
  const DType own = IsFloat(tensor) ? tensor : DType::kFloat32;
  SideRoundoff roundoff;
  roundoff.kept_in = IsFloat(side.computes_in) ? side.computes_in : own;
  roundoff.kept = UnitRoundoff(roundoff.kept_in);
  roundoff.summed = std::min(roundoff.kept, UnitRoundoff(DType::kFloat32));
  return roundoff;
}

void AddVariance(OwnVariance& sum, double roundoff, double error) {
  sum.bound += Square(Safety(roundoff) * error);
  sum.typical += Square((roundoff > kCoarseRoundoff ? 1 : kTypicalFine) * error);
}

OwnVariance OwnVarianceOf(const SideRoundoff (&sides)[2], double length, double roundoffs) {
  OwnVariance variance;
  for (const SideRoundoff& side : sides) {
    AddVariance(variance, side.summed, side.summed * (kSumRms * std::sqrt(length) + roundoffs));
    AddVariance(variance, side.kept, side.kept * kRoundingRms);
  }
  return variance;
}

void AddTo(ErrorPrediction& error, const OwnVariance& own) {
  error.clean = std::sqrt(Square(error.clean) + own.bound);
  error.typical = std::sqrt(Square(error.typical) + own.typical);
}

void AddStepsOfOneSide(ErrorPrediction& error, double step) {
  const double variance = Square(step) / 12;
  AddTo(error, {Square(kSafetySteps) * variance, variance});
  ++error.one_sided;
}

void Grow(ErrorPrediction& error, double growth) {
  error.clean *= growth;
  error.typical *= growth;
  error.flipped *= growth;
  error.largest *= growth;
}

void SetRms(ErrorPrediction& error) { error.rms = std::hypot(error.clean, error.flipped); }

void Join(ErrorPrediction& into, const ErrorPrediction& other) {
  into.rms = std::max(into.rms, other.rms);
  into.clean = std::max(into.clean, other.clean);
  into.typical = std::max(into.typical, other.typical);
  into.flipped = std::max(into.flipped, other.flipped);
  into.largest = std::max(into.largest, other.largest);
  into.flips = std::max(into.flips, other.flips);
  into.reached = std::max(into.reached, other.reached);
  into.fresh = std::max(into.fresh, other.fresh);
  into.longest_sum = std::max(into.longest_sum, other.longest_sum);
  into.layers = std::max(into.layers, other.layers);
  into.quantisers = std::max(into.quantisers, other.quantisers);
  into.one_sided = std::max(into.one_sided, other.one_sided);
  into.unknown = std::max(into.unknown, other.unknown);
  into.coarsest = Coarser(into.coarsest, other.coarsest);
  into.step = std::max(into.step, other.step);
  into.steps |= other.steps;
  into.absolute = std::max(into.absolute, other.absolute);
  into.rectified |= other.rectified;
  into.thinned |= other.thinned;
  into.part = std::max(into.part, other.part);
  into.chosen = std::max(into.chosen, other.chosen);
  into.chosen_rows = std::max(into.chosen_rows, other.chosen_rows);
  into.crossed |= other.crossed;
  if (into.since.empty()) into.since = other.since;
}

double MostFlips(double expected) {
  if (expected > 50) return expected + 3.3 * std::sqrt(expected) + 1;
  double left = 1 - std::exp(-expected);  // the chance of more than `flips`
  double term = std::exp(-expected);
  double flips = 0;
  while (left > kFlipChance) {
    flips += 1;
    term *= expected / flips;
    left -= term;
  }
  return flips;
}

void RoundToSteps(ErrorPrediction& error, double step, int64_t elements, Steps kind) {
  if (error.typical == 0 && error.flipped == 0) return;
  const auto count = static_cast<double>(std::max<int64_t>(elements, 1));
  error.step = std::max(error.step, step);
  const double share = std::min(0.8 * error.typical / step, 1.0);
  double before = Square(error.flipped);
  if (share > kManyFlips) {
    before += Square(error.clean);
    error.reached = 1;
  }
  const double where = std::min(error.reached + error.fresh, 1.0);
  const double follow = std::min(0.8 * std::sqrt(before * where) * step, where * Square(step));
  double variance = std::max(before, std::min(follow, before + where * Square(step) / 2));
  const double expected = share * count;
  const double more = MostFlips(error.flips + expected) - MostFlips(error.flips);
  error.flips += expected;
  if (share <= kManyFlips) {
    const double large = kind == Steps::kOfFloats && more > 0 ? Square(kLargeStep) : 0;
    variance += (more + large) / count * Square(step);
  }
  error.fresh = std::min(error.fresh + more / count, 1.0);
  error.flipped = std::sqrt(variance);
  error.clean =
      kind == Steps::kOfFloats ? std::min(kSmallTimes * error.typical, kSmallStep * step) : 0;
  error.typical = 0;  // where no element flips, the sides are equal again
}

void Spread(ErrorPrediction& error, int64_t length) {
  const auto all = static_cast<double>(std::max<int64_t>(length, 1));
  error.reached = std::min(error.reached + error.fresh * all, 1.0);
  error.fresh = 0;
}

void Dilute(ErrorPrediction& error, int64_t rows) {
  const double everywhere = error.flipped / std::sqrt(static_cast<double>(rows));
  error.clean = std::hypot(error.clean, everywhere);
  error.typical = std::hypot(error.typical, everywhere);
  error.reached = std::min(error.reached * kExchange, 1.0);
}

}  // namespace vernier
