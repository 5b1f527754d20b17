// How many inferences a runner has made, and how long they took.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "vernier/runner_record.h"

namespace vernier {

class InferenceTimes {
 public:
  /// One more; nullopt: how long it took is not known.
  void Add(std::optional<double> seconds);

  int64_t count() const { return count_; }
  double total_seconds() const { return total_seconds_; }
  /// In seconds: the first ones, enough for a median.
  const std::vector<double>& latencies() const { return latencies_; }
  /// Nothing where no time is known.
  std::optional<LatencyRecord> Summary() const;

 private:
  std::vector<double> latencies_;
  int64_t count_ = 0;
  double total_seconds_ = 0;
};

}  // namespace vernier
