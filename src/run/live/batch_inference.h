// Inferences of several feeds at once (--batch-feeds): put together before it, and its outputs
// divided when the turn of each iteration comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backend/wire/messages.h"
#include "backend/worker/worker.h"
#include "run/lanes/feed_batch.h"
#include "run/live/lane_inference.h"
#include "run/workers/runner_session.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// kInvalidArgument where one of the runners cannot infer several feeds at once, as far as what it
/// declares says.
Status CheckBatchRunners(const std::deque<RunnerSession>& runners);

/// A feed as the runner takes it, as often as there will be feeds in one inference, where that is
/// known. kInvalidArgument as RowsOfFeeds(); errors as EncodeBatch.
Result<TensorBlock> EncodeForWarmUp(const RunPlan& plan, const RunnerSession& runner,
                                    const TensorMap& coerced);

/// Consecutive iterations are one inference, from the first on. What is wrong with one of their
/// feeds is an error of Take() of the first.
class BatchInference final : public LaneInference {
 public:
  using LaneInference::LaneInference;

  void Send(std::span<const size_t> who, const TensorMap& feed, int64_t iteration) override;
  void SendRest() override;
  bool IsInferred(int64_t iteration) override;
  void Collect(int64_t iteration) override;
  /// What was not sent is inferred by Take().
  bool Has(size_t) const override { return true; }
  /// kInvalidArgument where feeds cannot be one inference, or outputs cannot be divided.
  Result<LaneOutcome> Take(size_t index, int64_t iteration) override;

  /// What the runner's process would receive for the inference that is at hand. Errors as Take().
  Result<InputHashes> HashInputs(size_t index);

  /// One more inference with `feed` in the place of the iteration's own, so that nothing else is
  /// another. Errors as Take(), after which the runner is out of the run; kUnavailable, after which
  /// it is not, where the other feeds are gone; kCancelled.
  Result<TensorMap> InferAside(size_t index, const TensorMap& feed, int64_t iteration);

 private:
  // What each iteration has of a runner's outputs, and of how long they took.
  struct BatchParts {
    bool shared = false;  // as in LaneTask
    std::vector<Worker::Outcome> parts;
  };

  void SendBatch();
  Result<LaneTask> TaskOfBatch(size_t index, const FeedBatch& batch, SharedFeed& shared);
  Result<FeedBatch> CoerceBatch(size_t index, const FeedBatch& batch, bool& unchanged) const;
  Status CheckOneFeed(size_t index, const FeedBatch& coerced);
  Result<BatchParts> PartsOf(size_t index, std::string& unseen_words);
  Result<BatchParts> InferNow(size_t index, const FeedBatch& batch, std::string& unseen_words);

  std::deque<FeedBatch> batches_;         // not done with, in order: the first is in use or next
  bool gathers_ = false;                  // the last of them
  std::vector<size_t> gathers_for_;       // runners
  std::map<size_t, BatchParts> made_;     // of the first of them, by runner
  std::map<size_t, InputHashes> hashes_;  // likewise, where its results were there already
  std::map<size_t, Status> one_feed_;     // what CheckOneFeed() has found, by runner
};

}  // namespace vernier
