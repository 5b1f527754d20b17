// What a series of measured times comes to.
#pragma once

#include <cstddef>
#include <vector>

#include "vernier/profile_record.h"

namespace vernier {

/// Fewer say little: of five, the median lies within their range with 94 % confidence.
inline constexpr size_t kFewTimes = 6;

/// All zero for an empty series. Percentiles are the smallest measured time that so many percent do
/// not exceed; the median of an even number is the mean of the middle two. Of fewer than kFewTimes
/// `median_noise` is half the range, 0 for a single one, and `drift` is 0.
LatencyStatistics SummariseTimes(const std::vector<double>& seconds);

}  // namespace vernier
