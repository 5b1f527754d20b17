// The window of a convolution or a pooling. Internal to model.
#pragma once

#include <cstdint>

namespace vernier {

/// Sums of such sizes do not overflow.
inline constexpr int64_t kMostLength = int64_t{1} << 60;

/// Along one axis.
struct Window {
  int64_t size = 1, stride = 1, dilation = 1, before = 0, after = 0;

  // Small enough that nothing computed from them, and from a size that fits, overflows.
  bool IsPlausible() const {
    constexpr int64_t kMost = int64_t{1} << 30;
    const auto fits = [](int64_t value) { return value > -kMost && value < kMost; };
    return size > 0 && fits(size) && stride > 0 && fits(stride) && fits(dilation) && fits(before) &&
           fits(after);
  }
  int64_t OutputOf(int64_t length, bool same, bool ceil) const {
    if (same) return (length + stride - 1) / stride;
    const int64_t room = length + before + after - dilation * (size - 1) - 1;
    return (room + (ceil ? stride - 1 : 0)) / stride + 1;
  }
};

}  // namespace vernier
