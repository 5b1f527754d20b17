// Noise of probabilities: most values of a softmax or sigmoid are close to 0 (or 1) on both sides
// and hardly differ, so they show little about those that decide. Their logits do. Internal to
// decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "decide/kinds/near_tie.h"

namespace vernier {

/// A lead of `limit` between logits, as a lead of the probability `most`.
inline double LimitOfProbability(double most, double limit) { return most * -std::expm1(-limit); }

template <typename T>
bool AreProbabilities(std::span<const T> row) {
  // Softmax sums to 1 but for rounding, of short types to a share of this.
  constexpr double kSumRoom = 0.01;
  double sum = 0;
  for (const T value : row) {
    if (!(value >= 0)) return false;
    sum += static_cast<double>(value);
  }
  return std::abs(sum - 1) <= kSumRoom;
}

/// The noise of a logit, from one row of classes: the logarithms of the two sides' ratios are
/// differences of logits, but for what all classes of a row share. They are taken from the largest
/// values that did not decide (`deciding`, sorted). nullopt: too few such values, or no
/// probabilities.
template <typename T>
std::optional<double> NoiseOfLogits(std::span<const T> a, std::span<const T> b,
                                    const std::vector<size_t>& deciding) {
  constexpr size_t kMostTaken = 16, kLeastTaken = 2;
  if (!AreProbabilities(a) || !AreProbabilities(b)) return {};
  std::vector<size_t> places;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > 0 && b[i] > 0 && !std::ranges::binary_search(deciding, i)) places.push_back(i);
  }
  const size_t taken = std::min(places.size(), kMostTaken);
  if (taken < kLeastTaken) return {};
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(taken),
                            std::ranges::greater{}, [&](size_t i) { return a[i]; });
  places.resize(taken);
  std::vector<double> shifts(taken);
  std::ranges::transform(places, shifts.begin(), [&](size_t i) {
    return std::log(static_cast<double>(b[i]) / static_cast<double>(a[i]));
  });
  std::ranges::sort(shifts);
  const double shared = shifts[(taken - 1) / 2] / 2 + shifts[taken / 2] / 2;
  DifferenceNoise noise;
  for (const double shift : shifts) noise.Add(shift, shared);
  return noise.scale();
}

/// The same from many rows that are decided alike on both sides, as the steps of a text or the
/// positions of a map.
class LogitsOfRows {
 public:
  /// The row's values are a[c * stride], and its best class is `best` on both sides. Values that
  /// are next to 0 are left out: what short types round there is no noise of logits.
  template <typename T>
  void Add(const T* a, const T* b, size_t classes, size_t stride, size_t best) {
    constexpr double kLeast = 1e-3, kSumRoom = 0.01;
    double sum_a = 0, sum_b = 0;
    for (size_t c = 0; c < classes; ++c) {
      const auto x = static_cast<double>(a[c * stride]), y = static_cast<double>(b[c * stride]);
      if (!(x >= 0 && y >= 0)) probabilities_ = false;
      sum_a += x;
      sum_b += y;
    }
    probabilities_ &= std::abs(sum_a - 1) <= kSumRoom && std::abs(sum_b - 1) <= kSumRoom;
    if (!probabilities_) return;
    const auto shift = [&](size_t c) {
      return std::log(static_cast<double>(b[c * stride]) / static_cast<double>(a[c * stride]));
    };
    for (size_t c = 0; c < classes; ++c) {
      const auto x = static_cast<double>(a[c * stride]), y = static_cast<double>(b[c * stride]);
      if (c != best && x >= kLeast && y > 0) noise_.Add(shift(c), shift(best));
    }
  }
  bool probabilities() const { return probabilities_; }
  /// nullopt: no probabilities, or none but those of the best classes.
  std::optional<double> scale() const {
    if (!probabilities_ || noise_.empty()) return {};
    return noise_.scale() / std::sqrt(2.0);  // each is a difference of two logits
  }

 private:
  bool probabilities_ = true;
  DifferenceNoise noise_;
};

/// The noise of the logits of sigmoids, each a value of its own within [0, 1]; the limit of a
/// border at `border` is then how far a value is from it whose logit is `limit` away.
class LogitsOfValues {
 public:
  explicit LogitsOfValues(double border) : possible_(border > 0 && border < 1) {}

  void Add(double a, double b) {
    constexpr double kLeast = 1e-3;
    possible_ &= a >= 0 && a <= 1 && b >= 0 && b <= 1;
    if (!possible_ || a < kLeast || a > 1 - kLeast || b == 0 || b == 1) return;
    noise_.Add(LogitOf(a), LogitOf(b));
  }
  std::optional<double> scale() const {
    if (!possible_ || noise_.empty()) return {};
    return noise_.scale();
  }
  static double LimitAt(double border, double limit) {
    const auto moved = [&](double by) { return 1 / (1 + std::exp(-LogitOf(border) - by)); };
    return std::max(moved(limit) - border, border - moved(-limit));
  }

 private:
  static double LogitOf(double p) { return std::log(p / (1 - p)); }

  bool possible_;
  DifferenceNoise noise_;
};

/// What the values of the positions differ by that do not.
struct EqualNoise {
  DifferenceNoise values;
  LogitsOfRows logits;
  LogitsOfValues sigmoids{0.5};
};

/// Below `near_tie` a flip is a near tie; a clear flip within four times `doubt` proves nothing:
/// most values of sigmoids are close to 0, and differ by less than those that decide.
struct LimitsByEqual {
  double near_tie = 0;
  double doubt = 0;
};

}  // namespace vernier
