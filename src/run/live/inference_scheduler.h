// The inferences of a run's runners: one after the other, side by side, ahead, and in lanes. Keeps
// the others running when one fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "run/lanes/held_results.h"
#include "run/live/batch_inference.h"
#include "run/live/lane_inference.h"
#include "run/live/runner_pool.h"
#include "run/live/runner_replicas.h"
#include "run/live/sent_feeds.h"
#include "util/log/log.h"
#include "vernier/dim_size.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// In the order of a run: Start() and Open() for each runner, ChangeSizes() if others are found,
/// OpenLanes(); then each iteration by Infer(), InferSideBySide() or, with lanes, Collect(); and
/// Close() for each runner.
class InferenceScheduler : public RunnerPool {
 public:
  /// As RunnerPool.
  InferenceScheduler(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
                     const Embedder* caller = nullptr, const RunnerSession::Waiting& waiting = {});

  /// One inference with a feed that is coerced to the runner's inputs. nullopt when the runner has
  /// failed; kMalformed when the feed does not fit; kCancelled. `meanwhile` (may be {}) is not
  /// done where the inference was made beforehand.
  Result<std::optional<IterationResult>> Infer(size_t index, const TensorMap& feed,
                                               int64_t iteration,
                                               const WorkMeanwhile& meanwhile = {});

  /// Makes the inference that Infer() or InferSideBySide() will need next beforehand: the result is
  /// kept for that, and its status given here already, with whether none of its outputs is empty.
  /// True where the runner has failed.
  Result<bool> InferBeforehand(size_t index, const TensorMap& feed, int64_t iteration);

  /// Feeds will have these sizes, which no runner was opened for: what was inferred beforehand is
  /// dropped. Errors as ReopenFor().
  Status ChangeSizes(std::span<const DimSize> found);

  /// The same once more where outputs of `made`, which Infer() gave for this feed, stayed on a
  /// device and were lost there with the worker. Elsewhere `made` itself.
  Result<std::optional<IterationResult>> Restore(size_t index, const TensorMap& feed,
                                                 int64_t iteration,
                                                 std::optional<IterationResult> made);

  /// Releases the encoding of the last feed that was kept for further runners: see SentFeeds.
  void ForgetFeed() { sent_.Forget(); }

  /// An iteration that several runners have inferred side by side. Their logs are held until each
  /// of them is settled.
  class SideBySide {
   public:
    /// Of each runner that took part, in their order, once: logs what its framework printed
    /// meanwhile. Returns what Infer() would.
    Result<std::optional<IterationResult>> Settle(size_t index);

   private:
    friend class InferenceScheduler;
    SideBySide(InferenceScheduler& runs, int64_t iteration)
        : runs_(runs), iteration_(iteration), made_(runs.size()) {}

    InferenceScheduler& runs_;
    int64_t iteration_;
    std::vector<std::optional<Result<IterationResult>>> made_;  // empty: failed before, or no part
  };

  /// Infer() of the runners `who`, side by side; each must have a worker of its own.
  Result<SideBySide> InferSideBySide(std::span<const size_t> who, const TensorMap& feed,
                                     int64_t iteration);

  /// Has iterations inferred at the same time, or several at once, where the plan wants that: opens
  /// every runner that is open once more in each further worker. Once the sizes of feeds are
  /// settled. What fails puts its runner out of the run. Errors as Open().
  Status OpenLanes();

  /// Null where iterations are inferred one after the other.
  LaneInference* lanes() { return batches_ ? batches_.get() : lanes_.get(); }
  const LaneInference* lanes() const { return batches_ ? batches_.get() : lanes_.get(); }
  /// The same with --batch-feeds; null without.
  BatchInference* batches() { return batches_.get(); }
  /// Of LaneInference; 0 without lanes.
  size_t feeds_ahead() const { return lanes() == nullptr ? 0 : lanes()->feeds_ahead(); }

  /// One inference in each further worker of a runner, of which nothing is kept. One that fails
  /// puts the runner out of the run. Errors as Infer().
  Status WarmReplicas(size_t index, const TensorMap& feed, int64_t iteration);

  /// An iteration that lanes have inferred.
  class InLanes {
   public:
    /// What Infer() would have given for the runner; where it was not sent to a lane, Infer().
    Result<std::optional<IterationResult>> Take(size_t index, const TensorMap& feed);

   private:
    friend class InferenceScheduler;
    InLanes(InferenceScheduler& runs, int64_t iteration) : runs_(runs), iteration_(iteration) {}

    InferenceScheduler& runs_;
    int64_t iteration_;
  };

  /// With lanes: waits for the iteration. It holds until the next one is collected.
  InLanes Collect(int64_t iteration);

  /// Ends a runner and its further workers, as RunnerPool does.
  void Close(size_t index);

  bool outputs_may_stay_on_device() const { return may_stay_on_device_; }
  /// Whether these or states may stay: tensors of outputs and feeds then end on this thread.
  bool outputs_may_stay() const { return may_stay_on_device_ || sequences().may_stay(); }

  /// See WorkerPool. Waits for what lanes infer.
  std::vector<LoadedModule> LoadedModules();

 private:
  // nullopt: the runner cannot take it, and is out of the run.
  Result<std::optional<SentFeed>> FeedOf(size_t index, const TensorMap& feed, int64_t iteration);
  OutputsThatStay StayingOutputs(size_t index, int64_t iteration);
  Result<std::optional<IterationResult>> Finish(size_t index, int64_t iteration,
                                                Result<IterationResult> result);
  Result<std::optional<IterationResult>> WarmUpBatch(size_t index, const TensorMap& feed,
                                                     int64_t iteration);

  const bool may_stay_on_device_;
  HeldResults held_;
  SentFeeds sent_;
  std::unique_ptr<RunnerReplicas> replicas_;
  std::unique_ptr<LaneInference> lanes_;     // they go first: they use all of this
  std::unique_ptr<BatchInference> batches_;  // in their place
};

}  // namespace vernier
