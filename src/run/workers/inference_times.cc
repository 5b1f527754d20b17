#include "run/workers/inference_times.h"

#include <algorithm>

namespace vernier {
namespace {

// Enough for a median and a p95; a run of millions of iterations must not grow with them.
constexpr size_t kLatencyLimit = 100'000;

}  // namespace

void InferenceTimes::Add(std::optional<double> seconds) {
  ++count_;
  if (!seconds) return;
  if (latencies_.size() < kLatencyLimit) latencies_.push_back(*seconds);
  total_seconds_ += *seconds;
}

std::optional<LatencyRecord> InferenceTimes::Summary() const {
  if (latencies_.empty()) return std::nullopt;
  LatencyRecord latency;
  latency.first = latencies_.front();
  // The first inference warms caches and pools up: it is shown on its own.
  std::vector<double> sorted(latencies_.begin() + (latencies_.size() > 1 ? 1 : 0),
                             latencies_.end());
  std::sort(sorted.begin(), sorted.end());
  latency.median = sorted[sorted.size() / 2];
  latency.p95 = sorted[std::min(sorted.size() - 1, sorted.size() * 95 / 100)];
  return latency;
}

}  // namespace vernier
