// The runners of a run that infer live: opens them, feeds them, and keeps the others running when
// one fails.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/feeds/feed_stream.h"
#include "run/live/batch_inference.h"
#include "run/live/feed_blocks.h"
#include "run/live/held_results.h"
#include "run/live/lane_inference.h"
#include "run/live/live_steps.h"
#include "run/live/runner_feeds.h"
#include "run/live/runner_opener.h"
#include "run/live/runner_replicas.h"
#include "run/live/runner_reports.h"
#include "run/workers/live_runner.h"
#include "util/log.h"
#include "vernier/dim_size.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// In the order of a run: Start() and Open() for each runner, ChangeSizes() if others are found,
/// OpenLanes(); then each iteration by Infer(), InferSideBySide() or, with lanes, Collect(); and
/// Close() for each runner.
class LiveRuns {
 public:
  /// All must outlive it; `caller` may be null. `waiting` is what runners are opened with
  /// (LiveRunner::Waiting).
  LiveRuns(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
           const Embedder* caller = nullptr, const LiveRunner::Waiting& waiting = {});

  /// What is carried out, with the sizes that ChangeSizes() was given.
  const RunPlan& plan() const { return plan_; }
  bool interrupted() const { return interrupted_.load() != 0; }

  size_t size() const { return runners_.size(); }
  LiveRunner& operator[](size_t index) { return runners_[index]; }
  const LiveRunner& operator[](size_t index) const { return runners_[index]; }
  bool any_alive() const;
  /// True if a runner that the caller requires is unavailable (kUnavailable).
  bool lacks_needed() const;
  /// Of their models: with outputs that are marked or chosen.
  bool any_marked() const;
  std::vector<std::string> names() const;

  /// The iterations that a runner has made, and those that it could not as its state was lost.
  int64_t IterationsOf(size_t index) const;

  /// Iterations finished by every live runner; the largest int64 if none is alive.
  size_t CommonIterations() const;

  /// What they are fed.
  RunnerFeeds& feeds() { return feeds_; }
  const RunnerFeeds& feeds() const { return feeds_; }
  /// What was reported about them.
  RunnerReports& reports() { return reports_; }
  const RunnerReports& reports() const { return reports_; }
  /// Their workers, and those of the run's scripts.
  RunnerOpener& opener() { return opener_; }
  const RunnerOpener& opener() const { return opener_; }
  /// The outputs that stayed in workers. Tensors of this run must not outlive it.
  DeviceOutputs& devices() { return devices_; }

  /// State that is fed back between steps; null without steps.
  StepStates* steps() { return steps_.states(); }
  const StepStates* steps() const { return steps_.states(); }
  /// Does the runner, within sequences of steps, keep a state that no feed and no result holds?
  bool StateIsInside(size_t index) const;
  /// That is no state of the last step any more.
  void ForgetStateInside(size_t index) { steps_.ForgetInside(index); }
  /// With steps: what a runner gave, for its next one. One that lacks what that is fed with is out
  /// of the run, but not of this step. Other errors as StepStates::Remember.
  Status RememberState(size_t index, const TensorMap& outputs);

  /// Starts the workers of all runners, side by side.
  void Start();
  void StartOne(size_t index) { opener_.Start(index, runners_[index]); }

  /// Opens one runner. `python` is what feeds come from where a script makes or draws them, for
  /// runners that are calibrated; it must outlive this. A failure puts the runner out of the run; a
  /// model or a name that is wrong is returned, since it is not the backend's fault.
  Status Open(size_t index, PythonFeeds python = {});

  /// Opens a runner again, in another worker, where another one has ended the worker that they
  /// shared. Errors as Open().
  Status BringBack(size_t index);

  /// What is done on this thread while a runner computes a result.
  struct Work {
    /// Gives the feed of the next iteration, if there is one and it is known already, or of the one
    /// this many later, else null: a lone runner may be sent that before it has answered. Whether
    /// the runner then fails does not matter until Infer() is called for it.
    std::function<const TensorMap*(size_t behind)> next_feed;
    std::function<void()> when_sent;  ///< after that, where it was sent
  };

  /// One inference with a feed that is coerced to the runner's inputs. nullopt when the runner has
  /// failed; kMalformed when the feed does not fit; kCancelled. `meanwhile` (may be {}) is not
  /// done where the inference was made beforehand.
  Result<std::optional<IterationResult>> Infer(size_t index, const TensorMap& feed,
                                               int64_t iteration, const Work& meanwhile = {});

  /// Makes the inference that Infer() or InferSideBySide() will need next beforehand: the result is
  /// kept for that, and its status given here already, with whether none of its outputs is empty.
  /// True where the runner has failed.
  Result<bool> InferBeforehand(size_t index, const TensorMap& feed, int64_t iteration);

  /// Feeds will have these sizes, which no runner was opened for: the plan has them from now on,
  /// what was inferred beforehand is dropped, and those whose sessions take certain sizes alone are
  /// opened anew.
  Status ChangeSizes(std::span<const DimSize> found);

  /// The same once more where outputs of `made`, which Infer() gave for this feed, stayed on a
  /// device and were lost there with the worker. Elsewhere `made` itself.
  Result<std::optional<IterationResult>> Restore(size_t index, const TensorMap& feed,
                                                 int64_t iteration,
                                                 std::optional<IterationResult> made);

  /// Releases the encoding of the last feed that was kept for further runners. All of them must
  /// have answered. A feed that was sent ahead stays.
  void ForgetFeed() { blocks_.Forget(); }

  /// An iteration that several runners have inferred side by side. Their logs are held until each
  /// of them is settled.
  class SideBySide {
   public:
    /// Of each runner that took part, in their order, once: logs what its framework printed
    /// meanwhile. Returns what Infer() would.
    Result<std::optional<IterationResult>> Settle(size_t index);

   private:
    friend class LiveRuns;
    SideBySide(LiveRuns& runs, int64_t iteration)
        : runs_(runs), iteration_(iteration), made_(runs.size()) {}

    LiveRuns& runs_;
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
    friend class LiveRuns;
    InLanes(LiveRuns& runs, int64_t iteration) : runs_(runs), iteration_(iteration) {}

    LiveRuns& runs_;
    int64_t iteration_;
  };

  /// With lanes: waits for the iteration. It holds until the next one is collected.
  InLanes Collect(int64_t iteration);

  /// Ends a runner. One that fails even there is out of the run like any other.
  void Close(size_t index);

  bool outputs_may_stay_on_device() const { return may_stay_on_device_; }
  /// Whether these or states may stay: tensors of outputs and feeds then end on this thread.
  bool outputs_may_stay() const { return may_stay_on_device_ || steps_.may_stay(); }

  std::vector<RunnerRecord> Records() const;

  /// See WorkerPool. Waits for what lanes infer.
  std::vector<LoadedModule> LoadedModules();

 private:
  // A feed as one runner takes it: the run's own block, or one that was made for this runner.
  struct RunnerFeed {
    const TensorBlock* shared = nullptr;
    std::optional<TensorBlock> own;
    const TensorBlock& block() const { return own ? *own : *shared; }
  };
  Result<RunnerFeed> FeedFor(size_t index, const TensorMap& feed, int64_t iteration);
  OutputsThatStay StayingOutputs(size_t index, int64_t iteration);
  Result<std::optional<IterationResult>> Finish(size_t index, int64_t iteration,
                                                Result<IterationResult> result);
  Result<std::optional<IterationResult>> WarmUpBatch(size_t index, const TensorMap& feed,
                                                     int64_t iteration);
  const LiveRunner* WhoEndedWorkerOf(const LiveRunner& runner) const;
  Status PairStates(size_t index);
  // False: the state that it is to be fed with is lost, and with it the rest of the sequence.
  bool HasState(size_t index);
  void LoseSequence(size_t index, const Status& why);
  std::optional<IterationResult> MissStep(size_t index);
  // A runner that lacks what its next step is fed with is out of the run.
  Status FailWithoutState(size_t index, Status remembered);
  Result<IterationResult> TakeStep(size_t index, int64_t iteration);
  Result<IterationResult> KeepSteps(size_t index, int64_t iteration, IterationResult whole);
  Status OpenModel(size_t index, const ModelPlan& plan, Logger& logger);
  bool MayInferAhead(size_t index) const;
  void InferAhead(size_t index, int64_t iteration, const Work& meanwhile);
  bool InferOneAhead(size_t index, const TensorMap& feed, int64_t iteration);
  bool InferStepAhead(size_t index, const TensorMap& coerced, int64_t iteration);
  bool MayLendFeeds() const;

  RunPlan plan_;
  Logger& logger_;
  const std::atomic<int>& interrupted_;
  RunnerReports reports_;
  RunnerOpener opener_;
  DeviceOutputs devices_;
  const bool may_stay_on_device_;
  const bool needs_every_runner_;
  const bool may_be_asked_between_;  // more inferences than one of a feed
  std::deque<LiveRunner> runners_;
  LiveSteps steps_;  // an error is Open()'s
  RunnerFeeds feeds_;
  PythonFeeds python_feeds_;  // of Open(), for sessions that are opened anew
  HeldResults held_;
  std::map<size_t, int64_t> missed_;  // iterations, by runner
  size_t most_ahead_ = 0;  // iterations that may be ahead, by what the last inference was
  FeedBlocks blocks_;      // that runners with the same inputs share
  std::unique_ptr<RunnerReplicas> replicas_;
  std::unique_ptr<LaneInference> lanes_;     // they go first: they use all of this
  std::unique_ptr<BatchInference> batches_;  // in their place
};

}  // namespace vernier
