// What the runners of a run make of a feed, and what is done with it before it is compared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "run/comparison_run.h"
#include "run/live_runs.h"
#include "run/noise_floor.h"
#include "run/pair_bars.h"
#include "run/run_observer.h"
#include "run/savers.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class LiveInference {
 public:
  /// All must outlive it.
  LiveInference(const RunPlan& plan, LiveRuns& live, PairBars& bars, RunObserver& observer,
                Logger& logger)
      : plan_(plan), live_(live), bars_(bars), observer_(observer), logger_(logger) {}

  /// Where results go; to be called before the first inference. It must outlive this.
  void SaveTo(Savers& savers) { savers_ = &savers; }

  /// The results of all runners, told, saved and measured for the bars; absent where one has
  /// failed. Errors as LiveRuns::Infer and Savers::AddResult.
  Result<IterationOutputs> InferAll(const TensorMap& feed, int64_t iteration);
  Result<std::optional<IterationResult>> InferOne(size_t index, const TensorMap& feed,
                                                  int64_t iteration);

  /// Nothing will be inferred any more.
  void End();

 private:
  Status PrepareBars(size_t index, const TensorMap& feed, int64_t iteration);
  Status TakeResult(size_t index, const TensorMap& feed, int64_t iteration,
                    const std::optional<IterationResult>& result);
  Status OpenNoise();

  const RunPlan& plan_;
  LiveRuns& live_;
  PairBars& bars_;
  RunObserver& observer_;
  Logger& logger_;
  Savers* savers_ = nullptr;
  std::unique_ptr<NoiseFloor> noise_;
};

}  // namespace vernier
