// What a series of measured times comes to.
#pragma once

#include <vector>

#include "record/profile_record.h"

namespace vernier {

/// All zero for an empty series. Percentiles are the smallest measured time that so many percent do
/// not exceed; the median of an even number is the mean of the middle two. `median_noise` and
/// `drift` are 0 for fewer than six times.
LatencyStatistics SummariseTimes(const std::vector<double>& seconds);

}  // namespace vernier
