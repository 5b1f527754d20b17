// Whether rounding explains that two sides rank another class of a row first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace vernier {

/// The errors of two values that differ as the row's others do, by their RMS, are seldom further
/// apart.
inline constexpr double kMostLogitNoise = 6;

/// Differences above this fraction of the standard deviation of a row's logits are not rounding: a
/// row that is wrong as a whole differs by more than that, and would excuse its own flip.
inline constexpr double kMostLogitNoiseShare = 0.25;

/// How a row's logits differ between the sides, beside those of the two classes that are ranked
/// differently: an error in one of the two excuses nothing.
class LogitNoise {
 public:
  /// `scale`: a power of two, as large as the differences: no square overflows then, and whole
  /// numbers stay exact. `most`: near A's largest logit.
  LogitNoise(double scale, double most) : scale_(scale), most_(most) {}

  /// A class that no side masks. `ranked`: it is one of the two.
  void Add(double a, double b, bool ranked) {
    const double distance = a - most_;
    distances_ += distance;
    squared_distances_ += distance * distance;
    ++classes_;
    if (ranked) return;
    const double difference = (a - b) / scale_;
    squares_ += difference * difference;
    ++others_;
  }

  /// The RMS difference; 0 without other classes, or where it is more than rounding.
  double rms() const {
    if (others_ == 0) return 0;
    const double rms = scale_ * std::sqrt(squares_ / static_cast<double>(others_));
    const auto count = static_cast<double>(classes_);
    const double mean = distances_ / count;
    const double variance = squared_distances_ / count - mean * mean;
    if (!std::isfinite(variance)) return rms;  // squares of huge logits
    return rms <= kMostLogitNoiseShare * std::sqrt(std::max(variance, 0.0)) ? rms : 0;
  }

 private:
  double scale_, most_;
  double distances_ = 0, squared_distances_ = 0, squares_ = 0;
  int64_t classes_ = 0, others_ = 0;
};

}  // namespace vernier
