// Feeds of several iterations in one inference (--batch-feeds): put together before it, and its
// outputs divided when the turn of each iteration comes.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "run/live/live_runs.h"
#include "util/no_log.h"

namespace vernier {
namespace {

// What is wrong with feeds or outputs is wrong with the option; other errors stay.
Status AsOfOption(const LiveRunner& runner, const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument) return status;
  return InvalidArgument("--batch-feeds: " + runner.name() + ": " + status.message());
}

// Whatever code a framework gives while it computes: it is the one that failed.
Status AsOfFramework(const Status& status) {
  return status.code() == StatusCode::kCancelled ? status : BackendError(status.message());
}

}  // namespace

Status LiveRuns::CheckBatchSessions() {
  if (batch_feeds() <= 1) return {};
  for (const LiveRunner& runner : runners_) {
    if (!runner.opened()) continue;
    VERNIER_TRY(AsOfOption(runner, CheckBatchSession(runner.session())));
  }
  NoteOnce("--batch-feeds " + std::to_string(batch_feeds()) + ": up to " +
           std::to_string(batch_feeds()) +
           " iterations were one inference, and each has its share of the time");
  return {};
}

void LiveRuns::Gather(std::span<const size_t> who, const TensorMap& feed, int64_t iteration) {
  // Sizes were found with single feeds.
  for (const HeldResult& held : held_) runners_[held.index].ForgetInferences();
  held_.clear();
  if (!gathers_) {
    batches_.push_back({iteration, {}});
    gathers_for_.clear();
    gathers_ = true;
  }
  batches_.back().feeds.push_back(feed);
  for (const size_t index : who) {
    if (std::ranges::find(gathers_for_, index) == gathers_for_.end()) gathers_for_.push_back(index);
  }
  if (batches_.back().feeds.size() == batch_feeds()) SendBatch();
}

void LiveRuns::SendRest() {
  if (gathers_) SendBatch();
}

// What is wrong is said when the turn of its first iteration comes (InferInBatch).
void LiveRuns::SendBatch() {
  gathers_ = false;
  const FeedBatch& batch = batches_.back();
  std::ranges::sort(gathers_for_);
  std::vector<LaneTask> tasks;
  std::shared_ptr<const TensorBlock> shared;
  for (const size_t index : gathers_for_) {
    if (!runners_[index].alive()) continue;
    Result<LaneTask> task = TaskOfBatch(index, batch, shared);
    if (task.ok()) tasks.push_back(*std::move(task));
  }
  const auto number = batch.first / static_cast<int64_t>(batch_feeds());
  if (!tasks.empty()) lanes_->Add(number, std::move(tasks));
}

Result<LaneTask> LiveRuns::TaskOfBatch(size_t index, const FeedBatch& batch,
                                       std::shared_ptr<const TensorBlock>& shared) {
  LaneTask task;
  task.runner = index;
  task.batch = static_cast<int64_t>(batch_feeds());
  task.replica = &ReplicaOf(lanes_->LaneOf(batch.first / task.batch), index);
  task.count = static_cast<int64_t>(batch.feeds.size());
  task.ahead = MaySendAhead(runners_[index]);
  VERNIER_ASSIGN_OR_RETURN(const FeedBatch own, CoerceBatch(runners_[index], batch, task.shared));
  VERNIER_ASSIGN_OR_RETURN(task.rows, RowsOfFeeds(own));
  VERNIER_TRY(CheckOneFeed(index, own));
  if (task.shared) task.feed = shared;
  if (task.feed != nullptr) return task;
  LentMemory* const lent = task.shared && lends_to_lanes_ ? &lane_memory_ : nullptr;
  VERNIER_ASSIGN_OR_RETURN(TensorBlock block, EncodeBatch(own, lent));
  task.feed = {new TensorBlock(std::move(block)), [this](const TensorBlock* read) {
                 if (read->lent != 0) lane_memory_.TakeBack(read->lent);
                 delete read;
               }};
  if (task.shared) shared = task.feed;
  return task;
}

Result<FeedBatch> LiveRuns::CoerceBatch(const LiveRunner& runner, const FeedBatch& batch,
                                        bool& unchanged) const {
  NoLog unheard;
  FeedBatch own{batch.first, {}};
  unchanged = true;
  for (const TensorMap& feed : batch.feeds) {
    const auto iteration = batch.first + std::ssize(own.feeds);
    VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced, OfFeed(iteration, Coerce(runner, feed, unheard)));
    unchanged &= SameTensors(coerced.tensors, feed);
    own.feeds.push_back(std::move(coerced.tensors));
  }
  return own;
}

// Once, where the model does not say that its outputs grow with the batch: an output of a fixed
// size might have as many rows as the batch by chance, and be divided all the same.
Status LiveRuns::CheckOneFeed(size_t index, const FeedBatch& coerced) {
  LiveRunner& runner = runners_[index];
  if (coerced.feeds.size() < 2 || DeclaresRows(runner.session())) return {};
  if (const auto known = one_feed_.find(index); known != one_feed_.end()) return known->second;
  lanes_->Wait();
  const FeedBatch one{coerced.first, {coerced.feeds.front()}};
  VERNIER_ASSIGN_OR_RETURN(const int64_t rows, RowsOfFeeds(one));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeBatch(one));
  const Result<Worker::Outcome> made = runner.InferOnly(block, one.first);
  const Status found =
      made.ok() ? CheckRows(made->outputs.tensors, 1, rows) : AsOfFramework(made.status());
  one_feed_.insert_or_assign(index, found);
  return found;
}

// The others of an inference come after its first.
bool LiveRuns::IsInferredInLane(int64_t iteration) {
  const auto feeds = static_cast<int64_t>(batch_feeds());
  return iteration % feeds != 0 || lanes_->IsDone(iteration / feeds);
}

void LiveRuns::CollectLane(int64_t iteration) {
  const auto feeds = static_cast<int64_t>(batch_feeds());
  if (iteration % feeds != 0) return;
  while (!batches_.empty() && batches_.front().first < iteration) batches_.pop_front();
  parts_.clear();
  hashes_.clear();
  collected_ = lanes_->Collect(iteration / feeds);
}

Result<InputHashes> LiveRuns::HashInputs(size_t index, const TensorMap& feed) {
  if (batch_feeds() <= 1) {
    VERNIER_ASSIGN_OR_RETURN(TensorMap own, FeedOf(index, feed));
    return HashBatch({0, {std::move(own)}});
  }
  if (const auto known = hashes_.find(index); known != hashes_.end()) return known->second;
  const LiveRunner& runner = runners_[index];
  bool unchanged = true;
  VERNIER_ASSIGN_OR_RETURN(const FeedBatch own, CoerceBatch(runner, batches_.front(), unchanged));
  VERNIER_TRY(AsOfOption(runner, RowsOfFeeds(own).status()));
  VERNIER_ASSIGN_OR_RETURN(InputHashes hashes, HashBatch(own));
  return hashes_[index] = std::move(hashes);
}

Result<std::optional<IterationResult>> LiveRuns::InferInBatch(size_t index, const TensorMap& feed,
                                                              int64_t iteration) {
  LiveRunner& runner = runners_[index];
  VERNIER_TRY(OfFeed(iteration, CoerceAndNote(runner, feed)).status());
  LogInputs(runner);
  if (!parts_.contains(index)) {
    std::string unseen_words;
    Result<BatchParts> made = PartsOfBatch(index, unseen_words);
    if (made.status().code() == StatusCode::kBackend) {
      const std::string& why = made.status().message();
      Fail(runner, BackendError(why + NoteOnSizes(iteration)), unseen_words);
      return std::optional<IterationResult>();
    }
    if (!made.ok()) return AsOfOption(runner, made.status());
    parts_.insert_or_assign(index, *std::move(made));
  }
  BatchParts& parts = parts_.at(index);
  const auto place = static_cast<size_t>(iteration - batches_.front().first);
  Result<IterationResult> made = runner.Take(std::move(parts.parts[place]), iteration);
  if (made.ok() && parts.shared) CheckReceived(runner, iteration);
  return Finish(index, iteration, std::move(made));
}

// kBackend where the runner has failed.
Result<LiveRuns::BatchParts> LiveRuns::PartsOfBatch(size_t index, std::string& unseen_words) {
  const auto task = std::ranges::find(collected_, index, &LaneTask::runner);
  if (task == collected_.end() || !task->outcome) {
    return InferBatchNow(index, batches_.front(), unseen_words);
  }
  Worker::LogLines(task->said, logger_);
  unseen_words = task->unseen_words;
  const Result<Worker::Outcome> outcome = *std::exchange(task->outcome, std::nullopt);
  if (!outcome.ok()) return AsOfFramework(outcome.status());
  BatchParts made{task->shared, {}};
  VERNIER_ASSIGN_OR_RETURN(made.parts, DivideOutcome(*outcome, task->count, task->rows));
  return made;
}

// Its first worker is the one that infers now. On a whole batch, so that bits do not depend on what
// was inferred beforehand.
Result<LiveRuns::BatchParts> LiveRuns::InferBatchNow(size_t index, const FeedBatch& batch,
                                                     std::string& unseen_words) {
  LiveRunner& runner = runners_[index];
  lanes_->Wait();
  BatchParts made;
  VERNIER_ASSIGN_OR_RETURN(const FeedBatch own, CoerceBatch(runner, batch, made.shared));
  VERNIER_ASSIGN_OR_RETURN(const int64_t rows, RowsOfFeeds(own));
  VERNIER_TRY(CheckOneFeed(index, own));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeBatch(own));
  const auto count = static_cast<int64_t>(own.feeds.size());
  const Result<Worker::Outcome> outcome = runner.InferOnly(block, own.first, count);
  if (!outcome.ok()) {
    unseen_words = runner.UnseenWords();
    return AsOfFramework(outcome.status());
  }
  VERNIER_ASSIGN_OR_RETURN(made.parts, DivideOutcome(*outcome, count, rows));
  return made;
}

// In the place of the iteration's own feed, so that nothing else is another.
Result<TensorMap> LiveRuns::InferAsideInBatch(size_t index, const TensorMap& feed,
                                              int64_t iteration) {
  const auto holds = [iteration](const FeedBatch& batch) {
    return iteration >= batch.first &&
           iteration - batch.first < static_cast<int64_t>(batch.feeds.size());
  };
  const auto found = std::ranges::find_if(batches_, holds);
  if (found == batches_.end()) {
    return Unavailable("the feeds of iteration " + std::to_string(iteration) + " are gone");
  }
  FeedBatch batch = *found;
  const auto place = static_cast<size_t>(iteration - batch.first);
  batch.feeds[place] = feed;
  LiveRunner& runner = runners_[index];
  std::string unseen_words;
  Result<BatchParts> made = InferBatchNow(index, batch, unseen_words);
  if (!made.ok()) {
    const Status why = AsOfOption(runner, made.status());
    if (why.code() != StatusCode::kCancelled) Fail(runner, why, unseen_words);
    return why;
  }
  return std::move(made->parts[place].outputs.tensors);
}

// As many feeds as there will be in one inference, where that is known.
Result<TensorBlock> LiveRuns::EncodeForWarmUp(const LiveRunner& runner,
                                              const TensorMap& coerced) const {
  size_t count = batch_feeds();
  if (count <= 1) return EncodeTensors(coerced);
  const InputPlan& inputs = plan_.inputs;
  const bool drawn = inputs.load_paths.empty() && !inputs.script.given();
  if (drawn && inputs.iterations) {
    count = std::min(count, static_cast<size_t>(std::max<int64_t>(1, *inputs.iterations)));
  }
  const FeedBatch copies{0, std::vector<TensorMap>(count, coerced)};
  VERNIER_TRY(AsOfOption(runner, RowsOfFeeds(copies).status()));
  return EncodeBatch(copies);
}

Result<std::optional<IterationResult>> LiveRuns::WarmUpBatch(size_t index, const TensorMap& feed,
                                                             int64_t iteration) {
  LiveRunner& runner = runners_[index];
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, CoerceAndNote(runner, feed));
  LogInputs(runner);
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeForWarmUp(runner, coerced.tensors));
  return Finish(index, iteration, runner.Infer(block, iteration));
}

}  // namespace vernier
