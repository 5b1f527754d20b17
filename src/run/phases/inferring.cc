#include "run/phases/inferring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/feeds/feed_stream.h"
#include "run/live/feed_inference.h"
#include "run/live/output_room.h"
#include "run/phases/deciding.h"
#include "util/text/number_text.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

// Feeds that are read before their turn, for runners that infer several iterations at a time.
class FeedQueue {
 public:
  /// Keeps up to `ahead` feeds beside the one that is in use, and has them inferred before their
  /// turn (FeedInference::SendAhead): so many only where results are waited for, and one where
  /// results wait for feeds. With 0 it does nothing of its own. Both must outlive it.
  FeedQueue(FeedStream& feeds, FeedInference& inference, size_t ahead)
      : feeds_(feeds), inference_(inference), ahead_(ahead) {}

  /// As FeedStream::Next: an error comes in its turn. Where feeds are sent ahead, each has the
  /// errors of CheckOutputRoom() as well.
  Result<std::optional<TensorMap>> Next();

  /// Reads no more feeds. Whether Next() still gives one whose results are there, or why there was
  /// none.
  bool Finishes();

 private:
  FeedStream& feeds_;
  FeedInference& inference_;
  const size_t ahead_;
  std::deque<Result<std::optional<TensorMap>>> waiting_;
  int64_t read_ = 0;
  int64_t given_ = 0;
  uint64_t counted_ = 0;  // bytes of outputs, see CheckOutputRoom
  bool ended_ = false;
};

Result<std::optional<TensorMap>> FeedQueue::Next() {
  if (ahead_ == 0) return feeds_.Next();
  for (bool any = false; !ended_ && waiting_.size() <= ahead_; any = true) {
    // One for each that goes keeps lanes busy. Of slow feeds no more: what there is to compare may
    // end the run.
    if (any && waiting_.size() > 1 && inference_.IsInferred(given_)) break;
    Result<std::optional<TensorMap>> feed = feeds_.Next();
    // Of earlier feeds a part of the memory is taken already.
    if (feed.ok() && *feed) {
      const Status room = CheckOutputRoom(inference_.runs(), **feed, counted_);
      if (!room.ok()) feed = room;
    }
    ended_ = !feed.ok() || !feed->has_value();
    if (!ended_) inference_.SendAhead(**feed, read_++);
    if (ended_) inference_.SendRest();
    waiting_.push_back(std::move(feed));
  }
  if (waiting_.empty()) return std::optional<TensorMap>();
  Result<std::optional<TensorMap>> next = std::move(waiting_.front());
  waiting_.pop_front();
  ++given_;
  return next;
}

bool FeedQueue::Finishes() {
  ended_ = true;
  if (waiting_.empty()) return false;
  const Result<std::optional<TensorMap>>& next = waiting_.front();
  return !next.ok() || (next->has_value() && inference_.IsInferred(given_));
}

std::string FormatFeed(const TensorMap& feed) {
  return "\n---- Inference Input(s) ----\n" + FormatTensorTable(feed);
}

// Not Once: it would keep the text of every iteration.
void LogFeed(const RunContext& run, int64_t index, const TensorMap& feed) {
  if (!run.logger.Enabled(Severity::kInfo)) return;
  run.logger.Info("Streaming iteration " + std::to_string(index) + FormatFeed(feed));
}

// Of `steps` (may be null) it is the feed of one.
Status SaveFeed(const RunContext& run, int64_t iteration, const TensorMap& feed,
                const StepSequence* steps, OutputSavers& savers) {
  VERNIER_TRY(savers.AddFeed(iteration, feed, steps));
  run.observer.FeedMade(iteration, feed);
  return {};
}

// Lets go of tensors beside other work: to unmap and free a gigabyte takes the kernel a fifth of a
// second.
class TensorRelease {
 public:
  void Add(TensorMap tensors) {
    // What takes longer to free than a thread to start, by far.
    constexpr size_t kWorthThread = size_t{32} << 20;
    size_t bytes = 0;
    for (const NamedTensor& tensor : tensors) bytes += tensor.tensor.bytes().size();
    if (bytes < kWorthThread) return;
    // If no thread is available, Wait() does this synchronously.
    pending_.push_back(std::async(
        [held = std::move(tensors)]() mutable { const TensorMap released = std::move(held); }));
  }

  // Returns when all are gone, which is to be before there are new ones: they count as memory.
  void Wait() { pending_.clear(); }

 private:
  std::vector<std::future<void>> pending_;
};

void ReleaseOutputs(const InferenceScheduler& live, IterationOutputs& outputs,
                    TensorRelease& released) {
  // What a worker holds is let go of where workers are asked: on this thread.
  if (live.outputs_may_stay()) return;
  for (std::optional<IterationResult>& side : outputs) {
    if (side) released.Add(std::move(side->outputs));
  }
}

// Shards leave that to their merge.
bool EndsByFailure(const RunPlan& plan, const InferenceScheduler& live) {
  return plan.compare->fail_fast && !plan.shard.wanted() && live.any_failed();
}

// To the last feed, or until nothing more is to be compared or saved.
Status StreamFeeds(const RunContext& run, const LiveSide& side, const Comparing& comparing,
                   LiveResults& made) {
  InferenceScheduler& live = side.runs;
  FeedStream& feeds = *made.feeds;
  OutputSavers& savers = *made.savers;
  const FeedInference::Uses uses{side.bounds, savers, run.observer, made.progress.get()};
  FeedInference inference(run.plan, live, uses, run.logger);
  FeedQueue queue(feeds, inference, live.feeds_ahead());
  const WorkMeanwhile meanwhile{[&feeds](size_t behind) { return feeds.Prepare(behind); },
                                [&feeds] { feeds.PrepareOneMore(); }};
  TensorRelease released;
  VERNIER_TRY(comparing.loaded.CheckStepCount(feeds.CountSteps()));
  VERNIER_TRY(DecideOnWhole(run, side, comparing, feeds, inference));
  live.feeds().NameFeedsBy([&feeds](int64_t place) { return feeds.NameOf(place); });
  bool compares = true;
  // Where loaded outputs run out, what is to be saved is still made.
  for (int64_t i = 0; compares || (savers.saves() && !comparing.comparisons.stopped()); ++i) {
    // What lanes had done before is kept.
    const Status interrupted = run.CheckInterrupted();
    if (!interrupted.ok() && !queue.Finishes()) return interrupted;
    released.Wait();
    if (!live.any_alive() || EndsByFailure(run.plan, live)) break;
    VERNIER_ASSIGN_OR_RETURN(std::optional<TensorMap> feed, queue.Next());
    made.feeds_ended = !feed;
    if (!feed && !run.plan.shard.wanted()) VERNIER_TRY(comparing.loaded.CheckStepCount(i));
    if (!feed) break;
    made.feeds_used = i + 1;
    const int64_t index = feeds.IndexOf(i);
    LogFeed(run, index, *feed);
    VERNIER_TRY(SaveFeed(run, i, *feed, feeds.steps(), savers));
    if (compares) VERNIER_TRY(comparing.comparisons.NoteFeed(index, *feed, feeds.steps()));
    comparing.comparisons.NoteImage(index, i, feeds.images());
    if (live.lanes() == nullptr) VERNIER_TRY(CheckOutputRoom(live, *feed));
    VERNIER_ASSIGN_OR_RETURN(IterationOutputs outputs, inference.InferAll(*feed, i, meanwhile));
    ++made.iterations;
    live.ForgetFeed();
    comparing.comparisons.flips().SetFeed(*feed);
    if (!live.outputs_may_stay()) released.Add(*std::move(feed));
    if (compares) {
      comparing.NoteFeed(index, savers, live);
      VERNIER_ASSIGN_OR_RETURN(compares, comparing.Compare(index, outputs));
    }
    ReleaseOutputs(live, outputs, released);
    VERNIER_TRY(savers.Settle());
    run.observer.Progress(i + 1, feeds.expected().value_or(0));
  }
  return {};
}

Status Stream(const RunContext& run, const LiveSide& side, const Comparing& comparing,
              LiveResults& made) {
  InferenceScheduler& live = side.runs;
  for (size_t i = 0; i < live.size(); ++i) VERNIER_TRY(live.Open(i, side.python));
  VERNIER_TRY(CheckNames(run.plan, live, comparing.loaded));
  VERNIER_TRY(CheckOutputMaps(run.plan, live, comparing));
  if (!live.any_alive() || live.lacks_needed()) return {};
  VERNIER_TRY(BeginFeeds(run, side, made));
  // Shards would find it out one by one, when they have done their work.
  const auto total = run.plan.shard.wanted() ? made.feeds->total() : std::nullopt;
  if (total) VERNIER_TRY(CheckSavedCounts(comparing.loaded, *total));
  VERNIER_TRY(live.OpenLanes());
  if (!live.any_alive() || live.lacks_needed()) return {};
  for (size_t i = 0; i < live.size(); ++i) VERNIER_TRY(WarmUp(run, side, i, made));
  return StreamFeeds(run, side, comparing, made);
}

void LogTimes(const RunnerSession& runner, Logger& logger) {
  const double total_ms = runner.times().total_seconds() * 1e3;
  const auto count = static_cast<double>(runner.iterations());
  logger.Finish(PadName(runner.name()) + " | Completed " + std::to_string(runner.iterations()) +
                " iteration(s) in " + FormatG(total_ms, 4) + " ms | Average inference time: " +
                FormatG(count > 0 ? total_ms / count : 0, 4) + " ms.");
}

// All feeds through one runner, until it fails.
Status InferToTheEnd(const RunContext& run, size_t index, FeedInference& inference,
                     const Comparing& comparing, LiveResults& made) {
  const RunnerSession& runner = inference.runner(index);
  OutputSavers& savers = *made.savers;
  for (int64_t i = 0;; ++i) {
    VERNIER_TRY(run.CheckInterrupted());
    VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> feed, made.feeds->Next());
    made.feeds_ended |= !feed;
    if (!feed) break;
    made.feeds_used = std::max(made.feeds_used.value_or(0), i + 1);
    run.logger.Once(Severity::kInfo, PadName(runner.name()) + FormatFeed(*feed));
    VERNIER_TRY(SaveFeed(run, i, *feed, made.feeds->steps(), savers));
    comparing.NoteFeed(i, savers, inference.runs());
    VERNIER_TRY(comparing.comparisons.NoteFeed(i, *feed, made.feeds->steps()));
    comparing.comparisons.NoteImage(i, i, made.feeds->images());
    VERNIER_ASSIGN_OR_RETURN(const std::optional<IterationResult> result,
                             inference.InferOne(index, *feed, i));
    if (!result) return {};
    VERNIER_TRY(made.spill->Append(index, *result));
    VERNIER_TRY(savers.Settle());
    made.iterations = std::max(made.iterations, i + 1);
  }
  LogTimes(runner, run.logger);
  return {};
}

// Starts, feeds and closes one runner after the other.
Status TakeTurns(const RunContext& run, const LiveSide& side, const Comparing& comparing,
                 LiveResults& made) {
  InferenceScheduler& live = side.runs;
  std::optional<FeedInference> inference;
  for (size_t i = 0; i < live.size(); ++i) {
    live.StartOne(i);
    VERNIER_TRY(live.Open(i, side.python));
    if (live[i].alive()) {
      VERNIER_TRY(BeginFeeds(run, side, made));
      const FeedInference::Uses uses{side.bounds, *made.savers, run.observer, made.progress.get()};
      if (!inference) inference.emplace(run.plan, live, uses, run.logger);
      VERNIER_TRY(WarmUp(run, side, i, made));
      live.feeds().NameFeedsBy(
          [&feeds = *made.feeds](int64_t place) { return feeds.NameOf(place); });
    }
    if (live[i].alive()) VERNIER_TRY(InferToTheEnd(run, i, *inference, comparing, made));
    live.Close(i);
  }
  return {};
}

Status CompareSpilled(const RunContext& run, const Comparing& comparing, const LiveResults& made) {
  for (int64_t i = 0; i < made.iterations; ++i) {
    VERNIER_TRY(run.CheckInterrupted());
    VERNIER_ASSIGN_OR_RETURN(IterationOutputs outputs, made.spill->Read(i));
    VERNIER_ASSIGN_OR_RETURN(const bool go_on, comparing.Compare(i, outputs));
    if (!go_on) break;
  }
  return {};
}

Status InferThenCompare(const RunContext& run, const LiveSide& side, const Comparing& comparing,
                        LiveResults& made) {
  VERNIER_ASSIGN_OR_RETURN(made.spill, OutputSpill::Create(side.runs.size()));
  VERNIER_TRY(TakeTurns(run, side, comparing, made));
  VERNIER_TRY(CheckNames(run.plan, side.runs, comparing.loaded));
  if (made.feeds != nullptr) {
    const std::optional<int64_t> steps = made.feeds->CountSteps();
    VERNIER_TRY(
        comparing.loaded.CheckStepCount(made.feeds_ended && !steps ? made.feeds_used : steps));
  }
  return CompareSpilled(run, comparing, made);
}

}  // namespace

LiveResults InferStreaming(const RunContext& run, const LiveSide& side,
                           const Comparing& comparing) {
  LiveResults made;
  made.status = Stream(run, side, comparing, made);
  return made;
}

LiveResults InferInTurn(const RunContext& run, const LiveSide& side, const Comparing& comparing) {
  LiveResults made;
  made.status = InferThenCompare(run, side, comparing, made);
  return made;
}

}  // namespace vernier
