// Results that runners have made beforehand, until they are requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "run/workers/runner_session.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// Runners are identified by their place in the plan.
class HeldResults {
 public:
  /// At most one of a runner.
  const Result<IterationResult>& Hold(size_t index, int64_t iteration,
                                      Result<IterationResult> result);

  bool Has(size_t index, int64_t iteration) const;
  /// nullopt where it has none for this iteration.
  std::optional<Result<IterationResult>> Take(size_t index, int64_t iteration);

  /// Releases all, with what `runners` have counted for them.
  void Drop(std::deque<RunnerSession>& runners);

 private:
  struct HeldResult {
    size_t index;
    int64_t iteration;
    Result<IterationResult> result;
  };
  std::vector<HeldResult> held_;
};

}  // namespace vernier
