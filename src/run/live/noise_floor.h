// --noise-floor: the reference runner a second time, with other settings that must not matter. The
// difference from itself is the effect of rounding on this model with these inputs.
#pragma once

#include <memory>

#include "run/live/pair_error_bounds.h"
#include "run/workers/runner_session.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class NoiseFloor {
 public:
  /// The runner with the neutral settings that its backend declares (neutral_settings.h): one
  /// thread, without graph optimisations, and the like. kInvalidArgument, naming the backend, for
  /// one that declares none.
  static Result<std::unique_ptr<NoiseFloor>> Create(const RunnerPlan& reference,
                                                    const BackendInfo& backend);

  const RunnerPlan& plan() const { return plan_; }

  /// Opens the twin in a worker of `pool`. Errors are the backend's.
  Status Open(WorkerPool& pool, const ModelSource& model);

  /// See RunnerSession::lost_worker. Open() gives it another one.
  bool lost_worker() const { return twin_.lost_worker(); }

  /// One more inference with the feed that `reference` was made from; differences go to `bounds`.
  Status Measure(const TensorMap& feed, int64_t iteration, const IterationResult& reference,
                 PairErrorBounds& bounds);

  /// Ends the twin's session.
  Status Close() { return twin_.Close(); }

 private:
  explicit NoiseFloor(RunnerPlan plan) : plan_(std::move(plan)), twin_(plan_) {}

  RunnerPlan plan_;
  RunnerSession twin_;
};

}  // namespace vernier
