#include "run/profile/latency_statistics.h"

#include <algorithm>
#include <cmath>

namespace vernier {
namespace {

double Percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<size_t>(rank, 1)) - 1];
}

double Median(const std::vector<double>& sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double MedianOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return Median(times);
}

// Between which ranks the true median lies in 95 of 100 series: the binomial distribution, by its
// normal approximation.
double MedianNoise(const std::vector<double>& sorted, double median) {
  const auto n = static_cast<double>(sorted.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = std::min(sorted.size() - 1, static_cast<size_t>(std::ceil(n / 2 + reach)));
  return median > 0 ? (sorted[high] - sorted[low]) / 2 / median : 0;
}

}  // namespace

LatencyStatistics SummariseTimes(const std::vector<double>& seconds) {
  LatencyStatistics latency;
  if (seconds.empty()) return latency;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  latency.count = static_cast<int64_t>(sorted.size());
  double sum = 0;
  for (const double time : sorted) sum += time;
  latency.mean = sum / n;
  double squares = 0;
  for (const double time : sorted) squares += (time - latency.mean) * (time - latency.mean);
  latency.std_dev = std::sqrt(squares / n);
  latency.min = sorted.front();
  latency.max = sorted.back();
  latency.median = Median(sorted);
  latency.p90 = Percentile(sorted, 0.90);
  latency.p95 = Percentile(sorted, 0.95);
  latency.p99 = Percentile(sorted, 0.99);
  latency.median_noise = MedianNoise(sorted, latency.median);
  if (sorted.size() < kFewTimes) return latency;
  const auto middle = seconds.begin() + static_cast<ptrdiff_t>(seconds.size() / 2);
  const double first = MedianOf({seconds.begin(), middle});
  const double second = MedianOf({middle, seconds.end()});
  latency.drift = first > 0 ? second / first - 1 : 0;
  return latency;
}

}  // namespace vernier
