// The runners of a run that infer here and now: opening them, feeding them, keeping the others
// going when one fails.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inputs/coerce_feed.h"
#include "run/feeds/calibration_feeds.h"
#include "run/feeds/feed_stream.h"
#include "run/feeds/script_feeds.h"
#include "run/live/feed_batch.h"
#include "run/live/feed_blocks.h"
#include "run/live/inference_lanes.h"
#include "run/live/live_steps.h"
#include "run/live/noise_floor.h"
#include "run/live/received_bytes.h"
#include "run/maps/name_maps.h"
#include "run/runner/model_conversion.h"
#include "run/steps/step_states.h"
#include "run/steps/whole_sequence.h"
#include "run/workers/live_runner.h"
#include "run/workers/worker_pool.h"
#include "util/log.h"
#include "vernier/dim_size.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class LiveRuns {
 public:
  /// All must outlive it; `caller` may be null. `waiting` is what runners are opened with
  /// (LiveRunner::Waiting).
  LiveRuns(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
           const Embedder* caller = nullptr, const LiveRunner::Waiting& waiting = {});

  /// What is carried out, with the sizes that ChangeSizes() was given.
  const RunPlan& plan() const { return plan_; }

  size_t size() const { return runners_.size(); }
  LiveRunner& operator[](size_t index) { return runners_[index]; }
  const LiveRunner& operator[](size_t index) const { return runners_[index]; }
  bool any_alive() const;
  /// True if a runner that the caller requires is unavailable (kUnavailable).
  bool lacks_needed() const;
  bool any_marked() const { return marked_; }
  std::vector<std::string> names() const;

  /// Iterations finished by every live runner; the largest int64 if none is alive.
  size_t CommonIterations() const;

  /// State that is fed back between steps; null without steps.
  StepStates* steps() { return steps_.states(); }
  const StepStates* steps() const { return steps_.states(); }

  /// kInvalidArgument where a map without a label names no input of any runner, or a word of
  /// --feed-back is about none of them. All must have been opened; where one has failed or does not
  /// say what it takes, nothing is known.
  Status CheckMaps() const;

  /// A feed as the runner is given it: with its names, mapped and fitted. Errors as Infer().
  Result<TensorMap> FeedOf(size_t index, const TensorMap& feed) const;
  /// What the runner's process would receive for it: with --batch-feeds the feeds of the inference
  /// that is at hand.
  Result<InputHashes> HashInputs(size_t index, const TensorMap& feed);

  /// Messages about the feed of an iteration begin with name(iteration). Without it they begin with
  /// its number, except those about the first.
  void NameFeedsBy(std::function<std::string(int64_t iteration)> name) {
    name_of_feed_ = std::move(name);
  }

  /// Starts the workers of all runners, side by side.
  void Start();
  void StartOne(size_t index);

  /// A Python worker for the run's own scripts, started if need be.
  Result<std::shared_ptr<Worker>> ScriptWorker() { return pool_.GetForScripts(); }

  /// Opens one runner. `python` is what feeds come from where a script makes or draws them, for
  /// runners that are calibrated; it must outlive this. A failure puts the runner out of the run; a
  /// model or a name that is wrong is returned, since it is not the backend's fault.
  Status Open(size_t index, PythonFeeds python = {});

  /// Opens the twin of the first runner, which noise is measured with.
  Status OpenTwin(NoiseFloor& noise);

  /// What is done on this thread while a runner computes a result.
  struct Work {
    /// Gives the feed of the iteration after that, where there will be one and it is known already,
    /// or of the one so many behind it, else null: a lone runner may be sent that before it has
    /// answered. Whether the runner then fails does not matter until Infer() is called for it.
    std::function<const TensorMap*(size_t behind)> next_feed;
    std::function<void()> when_sent;  ///< after that, where it was sent
  };

  /// One inference with a feed that is coerced to the runner's inputs. nullopt when the runner has
  /// failed; kMalformed when the feed does not fit; kCancelled. `meanwhile` (may be {}) is not
  /// done where the inference was made beforehand.
  Result<std::optional<IterationResult>> Infer(size_t index, const TensorMap& feed,
                                               int64_t iteration, const Work& meanwhile = {});

  /// The inference that Infer() or InferSideBySide() will be asked for next, beforehand: what comes
  /// of it is kept for that, and its status given here already, with whether none of its outputs is
  /// empty. True where the runner has failed.
  Result<bool> InferBeforehand(size_t index, const TensorMap& feed, int64_t iteration);

  /// One inference of which nothing is kept or reported, whatever comes of it. Whether none of its
  /// outputs is empty. kUnavailable where the worker is gone; kCancelled.
  Result<bool> Try(size_t index, const TensorMap& feed);

  /// Feeds will have these sizes, which no runner was opened for: the plan has them from now on,
  /// what was inferred beforehand is dropped, and those whose sessions take certain sizes alone are
  /// opened anew.
  Status ChangeSizes(std::span<const DimSize> found);

  /// After Try(): how many other sizes were tried (as of NoteOfFreeSizes), for the message of a
  /// runner that fails at once, and the first of notes(), unless it is empty.
  void NoteSizes(int64_t tried, const std::string& note) {
    tried_sizes_ = tried;
    if (!note.empty()) notes_.insert(notes_.begin(), note);
    for (LiveRunner& runner : runners_) runner.DropTrialWords();
  }

  /// The same once more where outputs of `made`, which Infer() gave for this feed, stayed on a
  /// device and were lost there with the worker. Elsewhere `made` itself.
  Result<std::optional<IterationResult>> Restore(size_t index, const TensorMap& feed,
                                                 int64_t iteration,
                                                 std::optional<IterationResult> made);

  /// Another inference for the iteration, with other inputs; it is not reported. A failure removes
  /// the runner from the run, since its process may have died.
  Result<TensorMap> InferAside(size_t index, const TensorMap& feed, int64_t iteration);

  /// The same with another model in place of the runner's own, opened for this inference. Whatever
  /// comes of it, the runner stays.
  Result<TensorMap> InferAsideWith(size_t index, const ModelSource& model, const TensorMap& feed,
                                   int64_t iteration);

  /// Does the runner, within sequences of steps, keep a state that no feed and no result holds?
  bool StateIsInside(size_t index) const;

  /// Releases the encoding of the last feed that was kept for further runners. All of them must
  /// have answered. A feed that was sent ahead stays.
  void ForgetFeed() { blocks_.Forget(); }

  /// The same of the runners `who`, side by side; each must have a worker of its own. The answer
  /// has an element for every runner: nullopt for the others, and for those that have failed
  /// before. Settle() must follow for each of `who`, in order.
  using Settling = std::optional<Result<IterationResult>>;
  Result<std::vector<Settling>> InferSideBySide(std::span<const size_t> who, const TensorMap& feed,
                                                int64_t iteration);

  /// Logs what the framework printed meanwhile. Returns what Infer() would.
  Result<std::optional<IterationResult>> Settle(size_t index, int64_t iteration, Settling made);

  /// Opens every runner that is open once more in each further worker that the plan gives it; does
  /// nothing where it has one. Once the sizes of feeds are settled. What fails puts its runner out
  /// of the run. Errors as Open().
  Status OpenReplicas();

  /// May iterations be inferred at the same time?
  bool has_lanes() const { return lanes_.has_value(); }
  size_t lane_count() const { return plan_.execution.WorkersOfRunner(); }
  /// So many iterations are one inference, from the first on; then there are lanes.
  size_t batch_feeds() const { return static_cast<size_t>(plan_.execution.batch_feeds); }
  /// How many feeds are read beside the one in use: in each lane those of one inference that is
  /// made, and of one that waits for it. 0 without lanes.
  size_t feeds_ahead() const { return has_lanes() ? 2 * lane_count() * batch_feeds() - 1 : 0; }

  /// One inference in each further worker of a runner, of which nothing is kept. One that fails
  /// puts the runner out of the run. Errors as Infer().
  Status WarmReplicas(size_t index, const TensorMap& feed, int64_t iteration);

  /// With lanes: has these runners infer an iteration as soon as its lane is free. Iterations come
  /// in order. What there is to say of the feed is said by InferInLane(). Of several that are one
  /// inference the last one has it begin.
  void SendToLane(std::span<const size_t> who, const TensorMap& feed, int64_t iteration);
  /// There will be no more: what SendToLane() has gathered begins.
  void SendRest();

  /// With lanes: whether CollectLane() would not wait for an iteration that was sent.
  bool IsInferredInLane(int64_t iteration);

  /// Waits for what SendToLane() was given for an iteration.
  /// Before InferInLane() of its runners, and in the order of iterations.
  void CollectLane(int64_t iteration);

  /// What came of it, as Infer() would have given it; where it was not sent, Infer().
  Result<std::optional<IterationResult>> InferInLane(size_t index, const TensorMap& feed,
                                                     int64_t iteration);

  /// What feeds are made for: the inputs of the first opened runner that says what it takes. Where
  /// none does, those of `shape_words` (--input-shapes), as float32 unless they say another type,
  /// or none if feeds are `supplied` by files or a script. kInvalidArgument otherwise.
  Result<std::vector<TensorInfo>> InputsToFeed(bool supplied,
                                               std::span<const std::string> shape_words) const;

  /// Ends a runner. One that fails even there is out of the run like any other.
  void Close(size_t index);

  /// The outputs that stayed in workers. Tensors of this run must not outlive it.
  DeviceOutputs& devices() { return devices_; }
  bool outputs_may_stay_on_device() const { return may_stay_on_device_; }
  /// These, or states: then the tensors of outputs and feeds end where workers are asked.
  bool outputs_may_stay() const { return may_stay_on_device_ || steps_.may_stay(); }

  std::vector<RunnerRecord> Records() const;

  /// See WorkerPool.
  std::vector<LoadedModule> LoadedModules() {
    if (lanes_) lanes_->Wait();
    return pool_.LoadedModules();
  }

  /// The runner that draws random numbers, and by which operator, in a sentence; empty: none does.
  const std::string& random_numbers() const { return random_numbers_; }

  /// What had to be changed to run: coerced inputs, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // A feed as one runner takes it: the run's own block, or one that was made for this runner.
  struct RunnerFeed {
    const TensorBlock* shared = nullptr;
    std::optional<TensorBlock> own;
    const TensorBlock& block() const { return own ? *own : *shared; }
  };
  Result<RunnerFeed> FeedFor(LiveRunner& runner, const TensorMap& feed, int64_t iteration);
  // Of very many feeds one may be wrong: an error says which.
  Result<CoercedFeed> OfFeed(int64_t iteration, Result<CoercedFeed> fits) const;
  // A feed as the runner takes it; what was changed is noted.
  Result<CoercedFeed> CoerceAndNote(LiveRunner& runner, const TensorMap& feed);
  void LogInputs(const LiveRunner& runner);
  OutputsThatStay StayingOutputs(size_t index, int64_t iteration);
  Result<std::optional<IterationResult>> Finish(size_t index, int64_t iteration,
                                                Result<IterationResult> result);
  std::string NoteOnSizes(int64_t iteration) const;
  void LogReceived(const LiveRunner& runner);
  void CheckReceived(const LiveRunner& runner, int64_t iteration);
  void Fail(LiveRunner& runner, const Status& why);
  void Fail(LiveRunner& runner, const Status& why, const std::string& unseen_words);
  Result<std::shared_ptr<Worker>> WorkerFor(const LiveRunner& runner, RunnerPlace place,
                                            size_t copy = 0);
  // What a session is opened with. The model's files and the feeds stay as long as this does.
  struct SessionParts {
    std::shared_ptr<const ModelSource> model;
    CalibrationFeeds calibration;
    OptionList options;
  };
  Result<SessionParts> PrepareSession(const RunnerPlan& runner, const ModelPlan& plan,
                                      Logger& logger);
  // What an iteration has of each of its runner's outputs, and of how long they took.
  struct BatchParts {
    bool shared = false;  // as in LaneTask
    std::vector<Worker::Outcome> parts;
  };
  Status CheckBatchSessions();
  void Gather(std::span<const size_t> who, const TensorMap& feed, int64_t iteration);
  void SendBatch();
  Result<LaneTask> TaskOfBatch(size_t index, const FeedBatch& batch,
                               std::shared_ptr<const TensorBlock>& shared);
  Result<FeedBatch> CoerceBatch(const LiveRunner& runner, const FeedBatch& batch,
                                bool& unchanged) const;
  Status CheckOneFeed(size_t index, const FeedBatch& coerced);
  Result<BatchParts> PartsOfBatch(size_t index, std::string& unseen_words);
  Result<BatchParts> InferBatchNow(size_t index, const FeedBatch& batch, std::string& unseen_words);
  Result<std::optional<IterationResult>> InferInBatch(size_t index, const TensorMap& feed,
                                                      int64_t iteration);
  Result<TensorMap> InferAsideInBatch(size_t index, const TensorMap& feed, int64_t iteration);
  Result<TensorBlock> EncodeForWarmUp(const LiveRunner& runner, const TensorMap& coerced) const;
  Result<std::optional<IterationResult>> WarmUpBatch(size_t index, const TensorMap& feed,
                                                     int64_t iteration);
  LiveRunner& ReplicaOf(size_t lane, size_t index) {
    return lane == 0 ? runners_[index] : replicas_[(lane - 1) * runners_.size() + index];
  }
  void StartReplicas();
  Status OpenReplicasOf(size_t index);
  void NoteOtherDevice(size_t lane, size_t index);
  void FailReplica(size_t lane, size_t index, const Status& why);
  bool HoldsResult(size_t index, int64_t iteration) const;
  const LiveRunner* WhoEndedWorkerOf(const LiveRunner& runner) const;
  Status BringBack(size_t index);
  Status PairStates(size_t index);
  // False: the state that it is to be fed with is lost, and with it the runner.
  bool HasState(size_t index);
  Result<IterationResult> TakeStep(size_t index, int64_t iteration);
  Result<IterationResult> KeepSteps(size_t index, int64_t iteration, IterationResult whole);
  size_t IndexOf(const LiveRunner& runner) const;
  Status OpenModel(size_t index, const ModelPlan& plan, Logger& logger);
  Status CheckRandomNumbers(const LiveRunner& runner, const ModelSource& model);
  OptionList ResetOptions(const RunnerPlan& runner) const;
  bool MayMoveToPython(const LiveRunner& runner) const;
  Status OpenInPython(size_t index, const ModelSource& model, const Status& why_not_plugin);
  std::optional<Result<IterationResult>> TakeHeld(size_t index, int64_t iteration);
  // `mapped` (may be null) is given what --map-inputs did.
  Result<CoercedFeed> Coerce(const LiveRunner& runner, const TensorMap& feed, Logger& logger,
                             MappedFeed* mapped = nullptr) const;
  std::span<const TensorInfo> MadeFor(const LiveRunner& runner) const;
  void NoteOnce(const std::string& text);
  bool MayInferAhead(size_t index) const;
  bool MaySendAhead(const LiveRunner& runner) const;
  void InferAhead(size_t index, int64_t iteration, const Work& meanwhile);
  bool InferOneAhead(size_t index, const TensorMap& feed, int64_t iteration);
  bool InferStepAhead(size_t index, const TensorMap& coerced, int64_t iteration);
  bool MayLendFeeds() const;

  RunPlan plan_;
  Logger& logger_;
  const std::atomic<int>& interrupted_;
  WorkerPool pool_;
  ModelConversions conversions_{pool_, logger_};
  DeviceOutputs devices_;
  const bool may_stay_on_device_;
  const bool needs_every_runner_;
  const bool may_be_asked_between_;  // more inferences than one of a feed
  std::deque<LiveRunner> runners_;
  bool marked_ = false;
  PythonFeeds python_feeds_;  // of Open(), for sessions that are opened anew
  std::function<std::string(int64_t)> name_of_feed_;  // may be empty
  std::vector<std::string> notes_;
  std::string random_numbers_;
  const Result<InputMaps> maps_;              // an error is Open()'s
  LiveSteps steps_;                           // likewise
  std::map<std::string, MappedFeed> mapped_;  // by the runner's name, without the tensors

  struct HeldResult {
    size_t index;
    int64_t iteration;
    Result<IterationResult> result;
  };
  std::vector<HeldResult> held_;  // inferred beforehand, at most one of a runner
  int64_t tried_sizes_ = 0;

  size_t most_ahead_ = 0;  // iterations that may be ahead, by what the last inference was

  FeedBlocks blocks_;       // that runners with the same inputs share
  ReceivedBytes received_;  // of them

  std::vector<RunnerPlace> places_;  // where runners were opened
  std::deque<LiveRunner> replicas_;  // one of each runner for each lane but the first
  LentMemory lane_memory_;           // for the feeds of lanes
  bool lends_to_lanes_ = false;
  std::vector<LaneTask> collected_;
  std::deque<FeedBatch> batches_;         // not done with, in order: the first is in use or next
  bool gathers_ = false;                  // the last of them
  std::vector<size_t> gathers_for_;       // runners
  std::map<size_t, BatchParts> parts_;    // of the first of them, by runner
  std::map<size_t, InputHashes> hashes_;  // likewise, where its results were there already
  std::map<size_t, Status> one_feed_;     // what CheckOneFeed() has found, by runner
  std::optional<InferenceLanes> lanes_;   // goes first: it uses runners
};

/// "{x [dtype=float32, shape=(2, 3)],\n y [...]}": Polygraphy's table of tensors.
std::string FormatTensorTable(const TensorMap& tensors);

/// A runner's name in the column that Polygraphy gives it.
std::string PadName(const std::string& name);

}  // namespace vernier
