// What the values of both sides differ by, as PassedOn has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/rounding/error_growth.h"
#include "model/rounding/passed_on.h"

namespace vernier {

/// The root mean square; 0 without values.
inline double Rms(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += Square(value);
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

/// Differences of pairs of values that one element of an output has on both sides; those that are
/// not finite are left out.
class PairDifferences {
 public:
  void Add(double a, double b) {
    const double difference = std::fabs(a - b);
    if (!std::isfinite(difference)) return;
    values_ += Square(a) / 2 + Square(b) / 2;
    squares_ += Square(difference);
    largest_ = std::max(largest_, difference);
    if (difference > 0) differing_.push_back({difference, std::max(std::fabs(a), std::fabs(b))});
    ++count_;
  }
  void AddTie() { ++ties_; }

  /// All that was added, relative to the scale of the values; nullopt without a scale.
  std::optional<PassedOn> Take(double differs) const {
    const double count = static_cast<double>(count_);
    const double scale = count_ > 0 ? std::sqrt(values_ / count) : 0;
    if (!(scale > 0) || !std::isfinite(scale)) return {};
    PassedOn passed{std::sqrt(squares_ / count) / scale, largest_ / scale, 0,
                    static_cast<double>(ties_) / count, ties_ > 0 ? 1 / scale : 0};
    const auto counts = [&](const Pair& pair) {
      return pair.difference > differs * std::max(scale, pair.value);
    };
    passed.differ = static_cast<double>(std::ranges::count_if(differing_, counts)) / count;
    return passed;
  }

 private:
  struct Pair {
    double difference, value;
  };
  double values_ = 0, squares_ = 0, largest_ = 0;
  int64_t count_ = 0, ties_ = 0;
  std::vector<Pair> differing_;
};

}  // namespace vernier
