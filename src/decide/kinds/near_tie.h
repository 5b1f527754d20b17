// Which flips are near ties. Internal to decide.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/short_floats.h"
#include "decide/kinds/decision.h"
#include "vernier/decision_record.h"
#include "vernier/tensor.h"

namespace vernier {

/// The margin of a decision between two values: 0 of equal ones, infinite ones included. Integers
/// are subtracted as such: doubles next to 2^53 and beyond would make ties of different ones.
template <typename T>
double Gap(T larger, T smaller) {
  if constexpr (std::is_integral_v<T>) {
    const uint64_t apart = static_cast<uint64_t>(larger) - static_cast<uint64_t>(smaller);
    return larger < smaller ? -static_cast<double>(0 - apart) : static_cast<double>(apart);
  } else {
    return larger == smaller ? 0 : static_cast<double>(larger) - static_cast<double>(smaller);
  }
}

template <typename T>
bool IsNan(T value) {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) return value != value;
  return false;
}

/// Raises `most` to the magnitude of a value, if that is finite.
template <typename T>
void Raise(double& most, T value) {
  const double magnitude = std::abs(static_cast<double>(value));
  if (std::isfinite(magnitude)) most = std::max(most, magnitude);
}

/// Of `count` differences with that median magnitude: see DifferenceNoise.
double DeviationOf(double median, size_t count);

/// How far apart two correct sides are: 1.4826 times the median magnitude of their differences,
/// which is their standard deviation if they are Gaussian, and 3/n of that more for n differences:
/// few of them give a bad estimate, and one that is too low costs more flips than one that is too
/// high excuses (docs/decisions.md has the figures). Outliers, up to half of the values, do not
/// move it far; differences that are not finite are left out. Of more than `most_kept` differences
/// a random choice stands for all, the same at each call.
class DifferenceNoise {
 public:
  static constexpr size_t kMostKept = 65536;

  explicit DifferenceNoise(size_t most_kept = kMostKept) : most_kept_(most_kept) {}

  /// Of integers exactly, see Gap.
  template <typename T>
  void Add(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      AddDifference(std::abs(Gap(a, b)));
    } else {
      AddDifference(std::abs(static_cast<double>(a) - static_cast<double>(b)));
    }
  }
  bool empty() const { return kept_.empty(); }
  std::vector<double>& kept() { return kept_; }
  /// 0 without values.
  double scale() const;

 private:
  void AddDifference(double difference) {
    if (!std::isfinite(difference)) return;
    ++count_;
    if (kept_.size() < most_kept_) return kept_.push_back(difference);
    // Vitter's reservoir (1985), with Knuth's generator.
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    const uint64_t place = (random_ >> 16U) % count_;
    if (place < most_kept_) kept_[place] = difference;
  }

  size_t most_kept_;
  uint64_t count_ = 0;
  uint64_t random_ = 0;
  std::vector<double> kept_;
};

/// What two tensors differ by outside of one of their equal parts, which are their samples.
class OtherSamples {
 public:
  OtherSamples(const Tensor& reference, const Tensor& candidate, int64_t sample_size)
      : reference_(reference), candidate_(candidate), size_(sample_size) {}

  /// The scale of their noise. Reads both tensors once, at the first call.
  double Without(int64_t sample);

 private:
  void Measure();

  const Tensor& reference_;
  const Tensor& candidate_;
  int64_t size_;
  std::vector<std::vector<double>> own_;  // of each sample, sorted
  std::vector<double> all_;               // likewise
};

/// The number of noisy values of a margin: one beside a border, or two that overtake each other.
enum class NoisyValues : uint8_t { kOne = 1, kTwo = 2 };

/// The margin below which a flip is a near tie by noise of the standard deviation `scale` in each
/// value. A value that moves by d, Gaussian, flips what has a margin below d; if margins are spread
/// evenly there, the share exp(-z^2 / 2) - z sqrt(pi / 2) erfc(z / sqrt(2)) of all flips has a
/// margin above z standard deviations of d, which is 2.1 % for z = 2. Two values move by sqrt(2)
/// `scale` against each other. The margin of a sample in which `changed` values or places changed
/// is the largest of these: z is then so large that 2.1 % of such samples are beyond it as well.
double NoiseLimit(double scale, NoisyValues values, int64_t changed);

/// StepOf() of the short type whose numbers an output holds, also where they are stored as float32.
double StepOfValues(const Tensor& output);

/// How far apart the neighbouring numbers are that an output holds.
struct NumberSpacing {
  double relative = 0;  ///< StepOfValues(), of long types as well: next to 1
  double absolute = 0;  ///< of integers, and of floats that have been such (value_grid.h)

  double At(double magnitude) const { return std::max(absolute, SpacingAt(magnitude, relative)); }
};

NumberSpacing StepsOf(const Tensor& output);

/// Of both sides. Outputs of few values have the grid that those of both share.
std::array<NumberSpacing, 2> StepsOfSides(const Tensor& a, const Tensor& b);

/// The limit below which a margin of two steps or less is, one of each side.
double TwoSteps(double step);

class NearTieRule {
 public:
  /// `step`: the larger StepOfValues() of the two sides. They must outlive the object.
  NearTieRule(std::optional<AllowedDifference> allowed, std::optional<double> given, double step,
              const Tensor& reference, const Tensor& candidate)
      : allowed_(allowed), given_(given), step_(step), sides_{&reference, &candidate} {}

  /// Of samples that agree; 0 where only the values of a flip could say.
  double known() const {
    if (given_) return *given_;
    return allowed_ && allowed_->rtol == 0 ? 2 * allowed_->atol : 0;
  }

  /// Whether only the values themselves give the limits.
  bool observes() const { return !given_ && !allowed_; }

  /// By how much rounding may move a value of this magnitude; 0 where something else is the limit.
  double Spacing(double magnitude) const { return SpacingAt(magnitude, step_); }

  /// Of a sample that flipped: sets near_tie and flip by the margins, which are set, and over_bound
  /// of a near tie: of a margin of 0 where more than two steps of the numbers turned it around, of
  /// others where two steps would.
  /// `largest`: the largest finite magnitude among the values that decided, on both sides.
  /// `observe()`, the limit by the noise of the values that did not, is called where nothing else
  /// gives it.
  template <typename Observe>
  void Judge(DecisionSample& sample, double largest, const Observe& observe) const {
    sample.near_tie = given_     ? *given_
                      : allowed_ ? 2 * std::max(allowed_->atol, allowed_->rtol * largest)
                                 : std::max(observe(), SpacingAt(largest, step_));
    if (!given_ && (!allowed_ || sample.first_margin == 0)) RaiseToSteps(largest, sample);
    sample.flip = FlipByMargin(sample.first_margin, sample.second_margin, sample.near_tie);
    sample.over_bound &= sample.flip == Flip::kNearTie;
  }

 private:
  // Each side may be off by a step of its own numbers: no other noise makes such a flip clear.
  void RaiseToSteps(double largest, DecisionSample& sample) const;

  std::optional<AllowedDifference> allowed_;
  std::optional<double> given_;
  double step_;
  std::array<const Tensor*, 2> sides_;
  mutable std::optional<std::array<NumberSpacing, 2>> steps_ = {};  // of these, once they count
};

inline constexpr double kNoMargin = std::numeric_limits<double>::quiet_NaN();

/// NaN decided: neither side's decision equals another. The sides that have it say "invalid".
inline void MakeInvalid(DecisionSample& sample, bool first_has_nan, bool second_has_nan) {
  sample.flip = Flip::kInvalid;
  sample.similarity = 0;
  if (first_has_nan) sample.first = "invalid", sample.first_margin = kNoMargin;
  if (second_has_nan) sample.second = "invalid", sample.second_margin = kNoMargin;
}

}  // namespace vernier
