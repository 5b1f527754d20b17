#include "compare/functions/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compare/functions/comparison.h"
#include "core/short_floats.h"
#include "kernels/measures/products.h"

namespace vernier {
namespace {

// Rounding has no direction, but errors that a whole row shares (its mean, its deviation) do not
// average out, nor do those of few elements: a single one's gain is its error.
constexpr double kGainShare = 0.4;
constexpr double kGainDeviations = 2;
// A rectifier that keeps a share p of normally distributed values leaves a scale which is smaller
// than theirs, while what is kept has the errors that it had: 0.9 p^-0.42 to 10 % for p of 0.01 to
// 0.5, by the moments of the rectified normal distribution.
constexpr double kThinnedTimes = 0.9;
constexpr double kThinnedPower = -0.42;
constexpr double kSparsest = 1.0 / 64;
// Few flipped steps may all point one way.
constexpr double kGainShareOfFlips = 0.7;
// Weights that are rounded to a shorter type than this err alike in every product with them, and in
// every layer that shares them: all of the error may be a gain.
constexpr double kFloat32Roundoff = 0x1p-24;
// Of a normal distribution: the mean fourth power over the square of the mean square.
constexpr double kNormalFourths = 3;
// A condition is counted in roundoffs. A bound of more roundoffs than this has room for some of
// what it amplifies: what is left of a saturated sigmoid moves by as much as its bound allows
// anyway.
constexpr double kRoomyBound = 1024;
// A well-conditioned network passes on one rounding step of its inputs, which is up to two
// roundoffs, and rounds what it makes of them.
constexpr double kPlainCondition = 4;
// By how much a bound is larger than what is typical: see kSafetyFine, kSafetyCoarse, kShortTimes.
constexpr double kSafety = 6;
constexpr double kSafetyOfShort = 2.25;
// A movement by whole steps is 3.5 times that by rounding, and draws that differ by a factor may
// all be small beside what a runtime does.
constexpr double kTimesSpread = 0.5;
// Where weights are moved along, outputs of right sides differ by up to 1.3 times the movement.
constexpr double kTimesWeights = 1.5;
// Values of a short type that are nearly alike, as those of a column behind a mean, are rounded
// across a step together: of so many elements single steps show nothing.
constexpr double kFewSteps = 0.05;
// What float64 sums of squares can resolve.
constexpr double kGainFloor = 1e-14;

// Sums over the pairs of elements that are finite on both sides.
struct Moments {
  double count = 0;
  double a_squared = 0;
  double b_squared = 0;
  double difference_squared = 0;
  double unit = 1;  ///< values were divided by this before they were squared
};

// Calls `visit(x, y, place)` for the pairs that are finite on both sides.
template <typename Visit>
void ForEachFinitePair(const ElementSpan& a, const ElementSpan& b, Visit visit) {
  std::vector<double> a_block(kBlockSize);
  std::vector<double> b_block(kBlockSize);
  for (int64_t start = 0; start < a.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, a.count - start));
    const double* x = LoadBlock(a, start, n, a_block.data());
    const double* y = LoadBlock(b, start, n, b_block.data());
    for (size_t i = 0; i < n; ++i) {
      const bool finite = std::isfinite(x[i]) && std::isfinite(y[i]);
      if (finite) visit(x[i], y[i], start + static_cast<int64_t>(i));
    }
  }
}

// Slow, for tensors with NaN, infinities, or squares beyond float64.
Moments FiniteMoments(const ElementSpan& a, const ElementSpan& b) {
  Moments m;
  double largest = 0;
  ForEachFinitePair(a, b, [&](double x, double y, int64_t) {
    largest = std::max({largest, std::fabs(x), std::fabs(y)});
  });
  if (largest > 0) m.unit = largest;
  ForEachFinitePair(a, b, [&](double x, double y, int64_t) {
    const double scaled_x = x / m.unit;
    const double scaled_y = y / m.unit;
    m.count += 1;
    m.a_squared += scaled_x * scaled_x;
    m.b_squared += scaled_y * scaled_y;
    m.difference_squared += (scaled_x - scaled_y) * (scaled_x - scaled_y);
  });
  return m;
}

Result<Moments> Measure(const Tensor& a, const Tensor& b) {
  VERNIER_ASSIGN_OR_RETURN(const ProductSums sums, ComputeProductSums(Elements(a), Elements(b)));
  const bool finite = std::isfinite(sums.a_squared) && std::isfinite(sums.b_squared) &&
                      std::isfinite(sums.difference_squared);
  const bool complex = Kind(a.dtype()) == DTypeKind::kComplex;
  if (!finite && !complex) return FiniteMoments(Elements(a), Elements(b));
  return Moments{static_cast<double>(a.element_count()), sums.a_squared, sums.b_squared,
                 sums.difference_squared, std::scalbn(1.0, sums.exponent)};
}

double Times(double value, double bound) {
  if (value == 0) return 0;
  return bound > 0 ? value / bound : std::numeric_limits<double>::infinity();
}

// The share of the elements that are not zero on both sides.
double FilledShare(const Tensor& a, const Tensor& b) {
  int64_t filled = 0;
  ForEachFinitePair(Elements(a), Elements(b),
                    [&](double x, double y, int64_t) { filled += x != 0 || y != 0 ? 1 : 0; });
  const auto count = static_cast<double>(std::max<int64_t>(a.element_count(), 1));
  return std::clamp(static_cast<double>(filled) / count, kSparsest, 1.0);
}

double GainShare(double count, const ErrorBound& bound) {
  if (bound.roundoff > kFloat32Roundoff || bound.crossed) return 1;
  const double typical = bound.element > 0 ? kGainShareOfFlips : kGainShare;
  return std::min(typical + kGainDeviations / std::sqrt(count), 1.0);
}

// The bound on its own scale, with what holds of few or sparse values.
struct FittedBound {
  double rms = 0;
  double element = 0;
  double relative = 0;  // as `element`, as a share of the element itself
  double gain = 0;
  double before = 0;     // `rms` without the condition
  double condition = 1;  // by which the whole or what single elements may differ by was widened
};

// By what the movement of an output that rounding on the inputs makes is multiplied, for its bound.
// If all roundings were amplified as that one is, that would be the number of roundoffs in a bound.
// Most are not, and movements that all draws agree on show what a rounding does: then it is what
// is typical of those roundings. Where few values decide, as a minimum by which all others are
// divided, draws differ, and so may runtimes. What weights and inputs make together is more than a
// side with rounded weights does.
double TimesMoved(const ErrorBound& bound, double rms) {
  const double roundoffs =
      std::clamp(rms / std::max(bound.roundoff, kFloat32Roundoff), 1.0, kRoomyBound);
  const double spread = kTimesSpread * bound.spread;
  if (bound.weights_moved) return std::max(std::min(spread, roundoffs), kTimesWeights);
  const double safety = bound.roundoff > kFloat32Roundoff ? kSafetyOfShort : kSafety;
  return std::min(spread / safety, 1.0) * roundoffs;
}

FittedBound FitBound(const Tensor& a, const Tensor& b, const ErrorBound& bound, double scale) {
  FittedBound fitted{.rms = bound.rms};
  if (bound.absolute > 0 && scale > 0) fitted.rms = std::hypot(bound.rms, bound.absolute / scale);
  const double share = bound.rectified ? FilledShare(a, b) : 1;
  if (bound.thinned) fitted.rms *= std::max(kThinnedTimes * std::pow(share, kThinnedPower), 1.0);
  fitted.before = fitted.rms;
  fitted.condition = WidenedBy(bound, fitted.rms);
  fitted.rms *= fitted.condition;
  if (!(fitted.rms > 0)) return fitted;
  const auto element = [&](double rms) {
    return std::max(kElementTimes * rms / std::sqrt(share) + bound.element, bound.largest);
  };
  const double moved = TimesMoved(bound, fitted.before) * bound.moved_element;
  fitted.condition = std::max(fitted.condition, moved / element(fitted.before));
  fitted.relative = element(fitted.rms);
  fitted.element = std::max(fitted.relative, moved);
  const double filled = share * static_cast<double>(std::max<int64_t>(a.element_count(), 1));
  fitted.gain = std::max(GainShare(filled, bound) * fitted.rms, kGainFloor);
  return fitted;
}

// As many elements of a normal distribution have the same fourth moment beside the second; all,
// where that is not known.
double EffectiveCount(const Tensor& a, const Tensor& b, double scale) {
  double squares = 0, fourths = 0;
  ForEachFinitePair(Elements(a), Elements(b), [&](double x, double y, int64_t) {
    const double square = (x / scale) * (x / scale) / 2 + (y / scale) * (y / scale) / 2;
    squares += square;
    fourths += square * square;
  });
  const auto all = static_cast<double>(std::max<int64_t>(a.element_count(), 1));
  return fourths > 0 ? std::clamp(kNormalFourths * squares * squares / fourths, 1.0, all) : all;
}

// What the root mean square of so many errors may be, beside that of all.
double Varies(double count) { return 1 + kSampleDeviations / std::sqrt(2 * count); }

// Where few large values make the scale, their errors are a small sample, however many small ones
// lie beside them. `bound.rms` allows for the number of all.
void AllowForFew(const Tensor& a, const Tensor& b, const ErrorBound& bound, double scale,
                 FittedBound& fitted) {
  const auto all = static_cast<double>(std::max<int64_t>(a.element_count(), 1));
  const double few = EffectiveCount(a, b, scale);
  fitted.rms *= Varies(few) / Varies(all);
  fitted.before *= Varies(few) / Varies(all);
  fitted.gain = std::max(fitted.gain, GainShare(few, bound) * fitted.rms);
}

// Of quantised integers, one may always be a step off: of a single zero point, that is all.
void AllowOneStep(double count, double scale, FittedBound& fitted) {
  const double step = 1 / (scale * std::sqrt(count));
  fitted.rms = std::max(fitted.rms, step);
  fitted.gain = std::max(fitted.gain, step);
}

// NaN stays.
void RaiseTo(double times, BoundMeasure measure, BoundVerdict& verdict) {
  if (!(times > verdict.times_over)) return;
  verdict.times_over = times;
  verdict.worst = measure;
}

// Of elements that may be anything, some come to lie within the limit: by what they raise the root
// mean square. Two values of nothing in common differ by less than a limit, relative to their
// scale, with a probability of at most twice that limit, unless most are near zero.
double StraysWithin(const ErrorBound& bound) {
  const double share = bound.allowed * std::min(2 * bound.clean, 1.0);
  return bound.clean * std::sqrt(share / 3);
}

// Where choices may make anything of some elements, the others' error and gain, on their own scale
// if that is the larger one.
void MeasureWithin(const Tensor& a, const Tensor& b, const ErrorBound& bound,
                   const ErrorSplit& split, BoundVerdict& verdict) {
  if (split.within == 0) return;
  ErrorBound others = bound;
  others.rms = std::hypot(bound.within, StraysWithin(bound));
  FittedBound fitted = FitBound(a, b, others, verdict.scale);
  AllowForFew(a, b, others, verdict.scale, fitted);
  const double varies = Varies(static_cast<double>(split.within));
  const double scale = std::max(verdict.scale, split.scale_within);
  const double share = split.scale_within / scale;
  verdict.within = split.rms_within / scale;
  verdict.within_bound = fitted.rms * varies;
  verdict.gain = split.gain_within * share * share;
  verdict.gain_bound = fitted.gain * varies;
  RaiseTo(Times(verdict.within, verdict.within_bound), BoundMeasure::kWithin, verdict);
  RaiseTo(Times(std::fabs(verdict.gain), verdict.gain_bound), BoundMeasure::kGain, verdict);
}

// Of the elements that differ by more than the limit, those that do so by one step of their type.
int64_t CountSingleSteps(const Tensor& a, const Tensor& b, const ErrorLimit& limit) {
  const double step = a.dtype() == b.dtype() ? StepOf(a.dtype()) : 0;
  if (step == 0) return 0;
  int64_t count = 0;
  ForEachFinitePair(Elements(a), Elements(b), [&](double x, double y, int64_t) {
    const double difference = std::fabs(x - y), most = std::max(std::fabs(x), std::fabs(y));
    if (difference > limit.Of(most) && difference <= SpacingAt(most, step)) ++count;
  });
  return count;
}

// A flipped step that reaches one of all elements with this probability may have done so.
constexpr double kChanceOfOne = 0.05;

// A share that was counted on another output is a number of elements again, whatever it is rounded
// to.
constexpr double kRoomOfShares = 1 + 0x1p-40;

// How many elements differ by more than rounding, against how many may.
void MeasureBeyond(const Tensor& a, const Tensor& b, const ErrorBound& bound,
                   BoundVerdict& verdict) {
  const double clean = std::hypot(bound.clean, bound.absolute / verdict.scale);
  const ErrorLimit limit{clean, verdict.scale};
  const ErrorSplit split = SplitErrors(a, b, limit);
  const auto count = static_cast<double>(a.element_count());
  // Whether a flipped step reaches an element is chance: of few elements it may be one.
  const double expected = bound.allowed * count * kRoomOfShares;
  const double most = expected < 1 && expected >= kChanceOfOne ? 1 : std::floor(expected);
  verdict.clean_bound = clean;
  verdict.allowed = bound.allowed;
  verdict.beyond = static_cast<double>(split.beyond) / count;
  const auto steps = static_cast<double>(CountSingleSteps(a, b, limit));
  const double unexplained =
      static_cast<double>(split.beyond) - (steps <= kFewSteps * count ? steps : 0);
  const double times = unexplained / std::max(most, 0.5);
  RaiseTo(times, BoundMeasure::kBeyond, verdict);
  if (bound.within > 0) MeasureWithin(a, b, bound, split, verdict);
}

bool HasChannelsFirst(const Dims& dims) { return dims.size() > 3; }

}  // namespace

double WidenedBy(const ErrorBound& bound, double rms) {
  if (bound.condition <= kPlainCondition || !(rms > 0)) return 1;
  const double moved =
      std::sqrt(bound.condition * bound.condition - kPlainCondition * kPlainCondition);
  const double roundoff = std::max(bound.roundoff, kFloat32Roundoff);
  return std::hypot(1.0, TimesMoved(bound, rms) * moved * roundoff / rms);
}

int64_t RowLength(const Dims& dims) {
  if (dims.empty()) return 1;
  return std::max<int64_t>(HasChannelsFirst(dims) ? dims[1] : dims.back(), 1);
}

ErrorSplit SplitErrors(const Tensor& a, const Tensor& b, const ErrorLimit& limit) {
  const Dims& dims = a.dims();
  const bool channels_first = HasChannelsFirst(dims);
  const int64_t length = RowLength(dims);
  ErrorSplit split;
  double squares_beyond = 0, squares_within = 0, of_a = 0, of_b = 0;
  int64_t rows = 0, last_row = -1;
  ForEachFinitePair(Elements(a), Elements(b), [&](double x, double y, int64_t place) {
    const double difference = std::fabs(x - y);
    split.largest = std::max(split.largest, difference);
    if (difference <= limit.Of(std::max(std::fabs(x), std::fabs(y)))) {
      squares_within += difference * difference;
      of_a += x * x;
      of_b += y * y;
      ++split.within;
    } else {
      squares_beyond += difference * difference;
      ++split.beyond;
      if (place / length != last_row) ++rows;
      last_row = place / length;
    }
  });
  const auto count = static_cast<double>(std::max<int64_t>(a.element_count(), 1));
  // Where channels come first, neighbours in memory are not of one row: each element may be of its
  // own.
  const double reached = static_cast<double>(channels_first ? split.beyond : rows);
  split.rows = std::min(reached * static_cast<double>(length) / count, 1.0);
  split.rms_beyond = std::sqrt(squares_beyond / count);
  const auto within = static_cast<double>(std::max<int64_t>(split.within, 1));
  split.rms_within = std::sqrt(squares_within / within);
  split.scale_within = std::sqrt((of_a + of_b) / (2 * within));
  split.gain_within = of_a + of_b > 0 ? (of_a - of_b) / (of_a + of_b) : 0;
  return split;
}

Result<BoundVerdict> MeasureAgainstBound(const Tensor& a, const Tensor& b,
                                         const ErrorBound& bound) {
  BoundVerdict verdict;
  verdict.bound = bound.rms;
  verdict.why = bound.why;
  verdict.passed = true;
  if (a.dtype() == DType::kString || b.dtype() == DType::kString) return verdict;
  VERNIER_ASSIGN_OR_RETURN(const Moments m, Measure(a, b));
  const double both = m.a_squared + m.b_squared;
  verdict.scale = m.count > 0 ? m.unit * std::sqrt(both / (2 * m.count)) : 0;
  if (both > 0) {
    verdict.rms = std::sqrt(m.difference_squared / (both / 2));
    verdict.gain = (m.a_squared - m.b_squared) / both;
  }
  FittedBound fitted = FitBound(a, b, bound, verdict.scale);
  if (bound.steps && verdict.scale > 0) AllowOneStep(m.count, verdict.scale, fitted);
  const bool fits = verdict.rms <= fitted.rms && std::fabs(verdict.gain) <= fitted.gain;
  if (!fits && fitted.rms > 0 && verdict.scale > 0) AllowForFew(a, b, bound, verdict.scale, fitted);
  verdict.bound = fitted.rms;
  verdict.condition = fitted.condition;
  verdict.bound_before = fitted.before;
  verdict.gain_bound = fitted.gain;
  verdict.atol = std::isfinite(verdict.scale) ? fitted.element * verdict.scale : 0;
  if (bound.steps) verdict.atol = std::max(verdict.atol, 1.0);
  verdict.rtol = fitted.relative;
  verdict.times_over = Times(verdict.rms, fitted.rms);
  RaiseTo(Times(std::fabs(verdict.gain), verdict.gain_bound), BoundMeasure::kGain, verdict);
  if (bound.clean > 0 && verdict.scale > 0) MeasureBeyond(a, b, bound, verdict);
  verdict.passed = verdict.times_over <= 1;
  return verdict;
}

void CloseVerdict(const DifferenceSummary& difference, bool elements_passed,
                  BoundVerdict& verdict) {
  if (elements_passed) return;
  RaiseTo(difference.worst_ratio, BoundMeasure::kElement, verdict);
  verdict.passed = false;
}

}  // namespace vernier
