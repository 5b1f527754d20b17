// Sums and extrema of one series of numbers, block by block and then chunk by chunk in order.
// Internal to kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/measures/block_kernels.h"
#include "kernels/measures/compensated_sum.h"

namespace vernier {

/// What a series of numbers may hold.
enum class SignRule : uint8_t { kAny, kNonNegative };

template <typename T>
class SeriesTotals {
 public:
  /// Blocks must come in order; the first of them may start anywhere.
  void Add(const T* values, size_t n, int64_t start, SignRule signs) {
    const BlockKernels<T>& kernels = VectorKernels<T>();
    const double shift = Shift(values, n);
    BlockMoments<T> block = signs == SignRule::kNonNegative
                                ? kernels.magnitude_moments(values, n, shift)
                                : kernels.moments(values, n, shift);
    sum_.Add(block.sum);
    magnitude_sum_.Add(block.magnitude_sum);
    const auto count = static_cast<double>(n);
    size_t ordered = n;
    if (std::isfinite(block.magnitude_sum)) {
      const double mean = block.sum / count;
      const double off = mean - shift;
      MergeMoments(mean, std::max(0.0, block.shifted_squares - count * off * off), count);
      last_mean_ = mean;
    } else {
      const BlockSpecials<T> specials = kernels.specials(values, n);
      if (specials.nan_count > 0 && nan_block_ < 0) nan_block_ = start;
      if (specials.infinite_count > 0 && infinite_block_ < 0) infinite_block_ = start;
      nan_count_ += specials.nan_count;
      infinite_count_ += specials.infinite_count;
      overflowed_ = overflowed_ || specials.nan_count + specials.infinite_count == 0;
      block.min = specials.min;
      block.max = specials.max;
      ordered = n - static_cast<size_t>(specials.nan_count);
      last_mean_ = 0;
    }
    count_ += static_cast<int64_t>(n);
    block_max_ = block.max;
    block_has_nan_ = ordered < n;
    if (ordered > 0) AddExtrema(block.min, block.max, start);
  }

  /// As Add of so many zeros.
  void AddZeros(size_t n, int64_t start) {
    sum_.Add(0);
    magnitude_sum_.Add(0);
    MergeMoments(0, 0, static_cast<double>(n));
    last_mean_ = 0;
    count_ += static_cast<int64_t>(n);
    block_max_ = 0;
    block_has_nan_ = false;
    AddExtrema(0, 0, start);
  }

  /// `later` holds the blocks that follow this one's.
  void Merge(const SeriesTotals& later) {
    sum_.Merge(later.sum_);
    magnitude_sum_.Merge(later.magnitude_sum_);
    if (later.moments_count_ > 0) {
      MergeMoments(later.mean_, later.squares_, later.moments_count_);
    }
    if (nan_block_ < 0) nan_block_ = later.nan_block_;
    if (infinite_block_ < 0) infinite_block_ = later.infinite_block_;
    nan_count_ += later.nan_count_;
    infinite_count_ += later.infinite_count_;
    overflowed_ = overflowed_ || later.overflowed_;
    count_ += later.count_;
    if (later.min_block_ < 0) return;
    if (min_block_ < 0 || later.min_ < min_) {
      min_ = later.min_;
      min_block_ = later.min_block_;
    }
    if (max_block_ < 0 || later.max_ > max_) {
      max_ = later.max_;
      max_block_ = later.max_block_;
    }
  }

  int64_t count() const { return count_; }
  int64_t nan_count() const { return nan_count_; }
  int64_t infinite_count() const { return infinite_count_; }
  double sum() const { return sum_.value(); }
  double magnitude_sum() const { return magnitude_sum_.value(); }
  /// Sum of squared deviations from the mean; NaN when something is not finite.
  double squares() const {
    const bool finite = nan_count_ == 0 && infinite_count_ == 0;
    return finite ? squares_ : std::numeric_limits<double>::quiet_NaN();
  }
  /// Finite numbers whose sums, or whose squares, are beyond float64's range or lost below it.
  bool needs_scaling() const {
    if (nan_count_ > 0 || infinite_count_ > 0 || count_ == 0) return false;
    const bool too_small = min_ != max_ && squares_ < 1e-260;
    return overflowed_ || !std::isfinite(squares_) || too_small;
  }

  /// NaN aside. The sign of a zero is open. Unset without a number.
  T min() const { return min_; }
  T max() const { return max_; }
  /// Where the block begins that holds the first of them; -1 without one.
  int64_t min_block() const { return min_block_; }
  int64_t max_block() const { return max_block_; }
  int64_t nan_block() const { return nan_block_; }
  int64_t infinite_block() const { return infinite_block_; }
  /// Of the last block added, NaN aside.
  T block_max() const { return block_max_; }
  bool block_has_nan() const { return block_has_nan_; }

 private:
  // Squares are summed around a number near the mean, so that large means cost no digits: that of
  // the block before, or of the first few elements.
  double Shift(const T* values, size_t n) const {
    if (count_ > 0) return last_mean_;
    const size_t few = std::min(n, kSumLanes);
    double sum = 0;
    for (size_t i = 0; i < few; ++i) sum += static_cast<double>(values[i]);
    return std::isfinite(sum) ? sum / static_cast<double>(few) : 0;
  }

  // Chan's rule for merging the moments of two sets.
  void MergeMoments(double mean, double squares, double count) {
    const double delta = mean - mean_;
    const double total = moments_count_ + count;
    squares_ += squares + delta * delta * (moments_count_ * count / total);
    mean_ += delta * (count / total);
    moments_count_ = total;
  }

  void AddExtrema(T low, T high, int64_t start) {
    if (min_block_ < 0 || low < min_) {
      min_ = low;
      min_block_ = start;
    }
    if (max_block_ < 0 || high > max_) {
      max_ = high;
      max_block_ = start;
    }
  }

  CompensatedSum sum_;
  CompensatedSum magnitude_sum_;
  double mean_ = 0;
  double squares_ = 0;
  double moments_count_ = 0;
  double last_mean_ = 0;
  int64_t count_ = 0;
  int64_t nan_count_ = 0;
  int64_t infinite_count_ = 0;
  int64_t min_block_ = -1;
  int64_t max_block_ = -1;
  int64_t nan_block_ = -1;
  int64_t infinite_block_ = -1;
  T min_{};
  T max_{};
  T block_max_{};
  bool block_has_nan_ = false;
  bool overflowed_ = false;
};

}  // namespace vernier
