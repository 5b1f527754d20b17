// Iterations that are inferred before their turn, each by the workers of its lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/wire/lent_memory.h"
#include "backend/wire/tensor_block.h"
#include "backend/worker/worker.h"
#include "run/lanes/feed_batch.h"
#include "run/lanes/held_results.h"
#include "run/lanes/inference_lanes.h"
#include "run/live/runner_feeds.h"
#include "run/live/runner_replicas.h"
#include "run/live/runner_reports.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// May a runner get its next feed before it has answered? Only in a plug-in: a script may have side
/// effects, which would happen once more. Only in a process of its own: a crash of an unneeded run
/// must not end this process.
bool MaySendAhead(const ExecutionPlan& plan, const RunnerSession& runner);

/// What came of an iteration for one runner.
struct LaneOutcome {
  Result<Worker::Outcome> outcome;
  bool shared = false;            ///< as in LaneTask
  std::string unseen_words = {};  ///< Worker::UnseenWords, of one that failed
};

/// Runners are identified by their place in the plan. Each feed is one inference here; of several
/// that are one see BatchInference.
class LaneInference {
 public:
  /// What it works with. All must outlive it.
  struct Parts {
    const RunPlan& plan;
    RunnerReplicas& replicas;
    const RunnerFeeds& feeds;
    RunnerReports& reports;
    HeldResults& held;
  };

  /// Feeds that several runners take as they are lie in memory that is used again if `lends`: then
  /// no worker may keep what it was sent.
  LaneInference(const Parts& parts, bool lends);
  virtual ~LaneInference() = default;

  /// Has these runners infer an iteration as soon as its lane is free. Iterations come in order.
  /// Nothing is logged about the feed. Of several that are one inference the last one has it
  /// begin.
  virtual void Send(std::span<const size_t> who, const TensorMap& feed, int64_t iteration);
  /// There will be no more: what waits for others begins.
  virtual void SendRest() {}

  /// Whether Collect() would not wait for an iteration that was sent.
  virtual bool IsInferred(int64_t iteration) { return lanes_.IsDone(iteration); }
  /// Waits for what was sent of an iteration. Before Take() of its runners, and in the order of
  /// iterations.
  virtual void Collect(int64_t iteration) { collected_ = lanes_.Collect(iteration); }

  /// Does Take() give the runner's result that Collect() has waited for? Else nothing of the
  /// iteration was sent.
  virtual bool Has(size_t index) const;
  /// What came of it, once; logs what the framework said meanwhile.
  virtual Result<LaneOutcome> Take(size_t index, int64_t iteration);

  /// Returns when all that was sent has been inferred.
  void Wait() { lanes_.Wait(); }

  /// How many feeds are read beside the one in use: in each lane those of one inference that is
  /// made, and of one that waits for it.
  size_t feeds_ahead() const { return 2 * parts_.replicas.lanes() * batch_ - 1; }

 protected:
  using SharedFeed = std::shared_ptr<const TensorBlock>;

  const Parts& parts() const { return parts_; }
  RunnerSession& runner(size_t index) { return parts_.replicas.runners()[index]; }
  InferenceLanes& lanes() { return lanes_; }
  int64_t batch_feeds() const { return static_cast<int64_t>(batch_); }

  // A task for the lane of this inference. `coerced` are its feeds as the runner takes them,
  // `unchanged` if they are as they came: then all such tasks have one block, which is `shared`.
  Result<LaneTask> TaskOf(size_t index, const FeedBatch& coerced, bool unchanged,
                          SharedFeed& shared);
  // Takes the runner's task where it was inferred and not taken yet, else nullopt.
  std::optional<LaneTask> TakeTask(size_t index);

 private:
  const Parts parts_;
  const bool lends_;
  const size_t batch_;  // feeds that are one inference
  LentMemory memory_;   // for feeds
  std::vector<LaneTask> collected_;
  InferenceLanes lanes_;  // goes first: it uses all of this
};

}  // namespace vernier
