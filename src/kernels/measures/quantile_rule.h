// NumPy's medians and quantiles from elements of known ranks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace vernier {

/// Where a quantile lies between two neighbours in sorted order.
struct RankPosition {
  int64_t previous = 0;
  int64_t next = 0;
  double fraction = 0;
};

/// NumPy's "linear" rule. At or past the last element both neighbours are the last one and the
/// fraction is not 0; it shows only for an infinite element, where Polygraphy then prints nan.
inline RankPosition Locate(int64_t count, double quantile) {
  const double position = static_cast<double>(count - 1) * quantile;
  if (!(position < static_cast<double>(count - 1))) return {count - 1, count - 1, position + 1};
  const double floor = std::floor(position);
  const auto previous = static_cast<int64_t>(floor);
  return {previous, std::min(previous + 1, count - 1), position - floor};
}

inline double Interpolate(double previous, double next, double fraction) {
  const double step = next - previous;
  return fraction >= 0.5 ? next - step * (1 - fraction) : previous + step * fraction;
}

/// The ranks of the median's and the quantiles' neighbours; none of an empty array.
inline std::vector<int64_t> NeededRanks(int64_t count, std::span<const double> quantiles) {
  if (count == 0) return {};
  std::vector<int64_t> ranks = {(count - 1) / 2, count / 2};
  for (const double quantile : quantiles) {
    const RankPosition position = Locate(count, quantile);
    ranks.push_back(position.previous);
    ranks.push_back(position.next);
  }
  return ranks;
}

/// The median of an even count from its two middle elements; halved first where the sum overflows.
inline double MiddleOf(double low, double high) {
  const double both = low + high;
  return std::isinf(both) && std::isfinite(low) && std::isfinite(high) ? low / 2 + high / 2
                                                                       : both / 2;
}

}  // namespace vernier
