// What runners of a run are sent: feeds encoded once for all, and ahead where that is worth it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "backend/wire/tensor_block.h"
#include "run/lanes/feed_blocks.h"
#include "run/live/live_steps.h"
#include "run/live/runner_feeds.h"
#include "run/workers/device_outputs.h"
#include "run/workers/runner_session.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A feed as one runner takes it: the run's own block, or one that was made for this runner.
struct SentFeed {
  const TensorBlock* shared = nullptr;
  std::optional<TensorBlock> own;
  const TensorBlock& block() const { return own ? *own : *shared; }
};

/// What is done on this thread while a runner computes a result.
struct WorkMeanwhile {
  /// Gives the feed of the next iteration, if there is one and it is known already, or of the one
  /// this many later, else null: a lone runner may be sent that before it has answered. Whether the
  /// runner then fails does not matter until it is asked for that iteration.
  std::function<const TensorMap*(size_t behind)> next_feed;
  std::function<void()> when_sent;  ///< after that, where it was sent
};

/// Runners are identified by their place in the plan.
class SentFeeds {
 public:
  /// All must outlive it.
  SentFeeds(const RunPlan& plan, std::deque<RunnerSession>& runners, RunnerFeeds& feeds,
            const LiveSteps& steps, DeviceOutputs& devices);

  /// The feed of an iteration, coerced to the runner's inputs; what was changed is noted. Errors as
  /// RunnerFeeds::CoerceAndNote and EncodeTensors.
  Result<SentFeed> For(size_t index, const TensorMap& feed, int64_t iteration);

  /// Sends a lone runner, which computes `iteration`, the feeds behind that.
  void SendAhead(size_t index, int64_t iteration, const WorkMeanwhile& meanwhile);
  /// How far ahead that may be, by what the last inference was; nothing after one that failed.
  void LookAt(const TensorMap& feed, const Result<IterationResult>& made);

  /// Releases the encoding of the last feed. All runners must have answered. A feed that was sent
  /// ahead stays.
  void Forget() { blocks_.Forget(); }

  /// May workers read feeds from memory that is used again? A script may keep what it was given.
  bool MayLend() const;

 private:
  bool MaySend(size_t index) const;
  bool SendOneAhead(size_t index, const TensorMap& feed, int64_t iteration);
  bool SendStepAhead(size_t index, const TensorMap& coerced, int64_t iteration);

  const RunPlan& plan_;
  std::deque<RunnerSession>& runners_;
  RunnerFeeds& feeds_;
  const LiveSteps& steps_;
  DeviceOutputs& devices_;
  const bool may_be_asked_between_;  // more inferences than one of a feed
  size_t most_ahead_ = 0;            // iterations that may be ahead
  FeedBlocks blocks_;                // that runners with the same inputs share
};

}  // namespace vernier
