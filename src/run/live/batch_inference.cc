#include "run/live/batch_inference.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "run/lanes/feed_blocks.h"

namespace vernier {
namespace {

// What is wrong with feeds or outputs is wrong with the option; other errors stay.
Status AsOfOption(const RunnerSession& runner, const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument) return status;
  return InvalidArgument("--batch-feeds: " + runner.name() + ": " + status.message());
}

// Whatever code a framework gives while it computes: it is the one that failed.
Status AsOfFramework(const Status& status) {
  return status.code() == StatusCode::kCancelled ? status : BackendError(status.message());
}

}  // namespace

Status CheckBatchRunners(const std::deque<RunnerSession>& runners) {
  for (const RunnerSession& runner : runners) {
    if (runner.opened()) VERNIER_TRY(AsOfOption(runner, CheckBatchSession(runner.session())));
  }
  return {};
}

Result<TensorBlock> EncodeForWarmUp(const RunPlan& plan, const RunnerSession& runner,
                                    const TensorMap& coerced) {
  auto count = static_cast<size_t>(plan.execution.batch_feeds);
  if (count <= 1) return EncodeTensors(coerced);
  const bool drawn = plan.inputs.load_paths.empty() && !plan.inputs.script.given();
  if (drawn && plan.inputs.iterations) {
    count = std::min(count, static_cast<size_t>(std::max<int64_t>(1, *plan.inputs.iterations)));
  }
  const FeedBatch copies{0, std::vector<TensorMap>(count, coerced)};
  VERNIER_TRY(AsOfOption(runner, RowsOfFeeds(copies).status()));
  return EncodeBatch(copies);
}

void BatchInference::Send(std::span<const size_t> who, const TensorMap& feed, int64_t iteration) {
  // Sizes were found with single feeds.
  parts().held.Drop(parts().replicas.runners());
  if (!gathers_) {
    batches_.push_back({iteration, {}});
    gathers_for_.clear();
    gathers_ = true;
  }
  batches_.back().feeds.push_back(feed);
  for (const size_t index : who) {
    if (std::ranges::find(gathers_for_, index) == gathers_for_.end()) gathers_for_.push_back(index);
  }
  if (std::ssize(batches_.back().feeds) == batch_feeds()) SendBatch();
}

void BatchInference::SendRest() {
  if (gathers_) SendBatch();
}

void BatchInference::SendBatch() {
  gathers_ = false;
  const FeedBatch& gathered = batches_.back();
  std::ranges::sort(gathers_for_);
  std::vector<LaneTask> tasks;
  SharedFeed shared;
  for (const size_t index : gathers_for_) {
    if (!runner(index).alive()) continue;
    Result<LaneTask> task = TaskOfBatch(index, gathered, shared);
    if (task.ok()) tasks.push_back(*std::move(task));
  }
  if (!tasks.empty()) lanes().Add(gathered.first / batch_feeds(), std::move(tasks));
}

Result<LaneTask> BatchInference::TaskOfBatch(size_t index, const FeedBatch& batch,
                                             SharedFeed& shared) {
  bool unchanged = true;
  VERNIER_ASSIGN_OR_RETURN(const FeedBatch own, CoerceBatch(index, batch, unchanged));
  VERNIER_ASSIGN_OR_RETURN(const int64_t rows, RowsOfFeeds(own));
  VERNIER_TRY(CheckOneFeed(index, own));
  VERNIER_ASSIGN_OR_RETURN(LaneTask task, TaskOf(index, own, unchanged, shared));
  task.rows = rows;
  return task;
}

Result<FeedBatch> BatchInference::CoerceBatch(size_t index, const FeedBatch& batch,
                                              bool& unchanged) const {
  FeedBatch own{batch.first, {}};
  unchanged = true;
  for (const TensorMap& feed : batch.feeds) {
    const auto iteration = batch.first + std::ssize(own.feeds);
    VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced, parts().feeds.Coerce(index, feed, iteration));
    unchanged &= SameTensors(coerced.tensors, feed);
    own.feeds.push_back(std::move(coerced.tensors));
  }
  return own;
}

// Once, where the model does not say that its outputs grow with the batch: an output of a fixed
// size might have as many rows as the batch by chance, and be divided all the same.
Status BatchInference::CheckOneFeed(size_t index, const FeedBatch& coerced) {
  RunnerSession& first = runner(index);
  if (coerced.feeds.size() < 2 || DeclaresRows(first.session())) return {};
  if (const auto known = one_feed_.find(index); known != one_feed_.end()) return known->second;
  Wait();
  const FeedBatch one{coerced.first, {coerced.feeds.front()}};
  VERNIER_ASSIGN_OR_RETURN(const int64_t rows, RowsOfFeeds(one));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeBatch(one));
  const Result<Worker::Outcome> made = first.InferOnly(block, one.first);
  const Status found =
      made.ok() ? CheckRows(made->outputs.tensors, 1, rows) : AsOfFramework(made.status());
  one_feed_.insert_or_assign(index, found);
  return found;
}

// The others of an inference come after its first.
bool BatchInference::IsInferred(int64_t iteration) {
  return iteration % batch_feeds() != 0 || LaneInference::IsInferred(iteration / batch_feeds());
}

void BatchInference::Collect(int64_t iteration) {
  if (iteration % batch_feeds() != 0) return;
  while (!batches_.empty() && batches_.front().first < iteration) batches_.pop_front();
  made_.clear();
  hashes_.clear();
  LaneInference::Collect(iteration / batch_feeds());
}

Result<InputHashes> BatchInference::HashInputs(size_t index) {
  if (const auto known = hashes_.find(index); known != hashes_.end()) return known->second;
  bool unchanged = true;
  VERNIER_ASSIGN_OR_RETURN(const FeedBatch own, CoerceBatch(index, batches_.front(), unchanged));
  VERNIER_TRY(AsOfOption(runner(index), RowsOfFeeds(own).status()));
  VERNIER_ASSIGN_OR_RETURN(InputHashes hashes, HashBatch(own));
  return hashes_[index] = std::move(hashes);
}

Result<LaneOutcome> BatchInference::Take(size_t index, int64_t iteration) {
  if (!made_.contains(index)) {
    std::string unseen_words;
    Result<BatchParts> made = PartsOf(index, unseen_words);
    if (made.status().code() == StatusCode::kBackend) {
      return LaneOutcome{made.status(), false, std::move(unseen_words)};
    }
    if (!made.ok()) return AsOfOption(runner(index), made.status());
    made_.insert_or_assign(index, *std::move(made));
  }
  BatchParts& made = made_.at(index);
  const auto place = static_cast<size_t>(iteration - batches_.front().first);
  return LaneOutcome{std::move(made.parts[place]), made.shared};
}

// kBackend where the runner has failed.
Result<BatchInference::BatchParts> BatchInference::PartsOf(size_t index,
                                                           std::string& unseen_words) {
  std::optional<LaneTask> task = TakeTask(index);
  if (!task) return InferNow(index, batches_.front(), unseen_words);
  unseen_words = std::move(task->unseen_words);
  if (!task->outcome->ok()) return AsOfFramework(task->outcome->status());
  BatchParts made{task->shared, {}};
  VERNIER_ASSIGN_OR_RETURN(made.parts, DivideOutcome(**task->outcome, task->count, task->rows));
  return made;
}

// Its first worker is the one that infers now. On a whole batch, so that bits do not depend on what
// was inferred beforehand.
Result<BatchInference::BatchParts> BatchInference::InferNow(size_t index, const FeedBatch& batch,
                                                            std::string& unseen_words) {
  RunnerSession& first = runner(index);
  Wait();
  BatchParts made;
  VERNIER_ASSIGN_OR_RETURN(const FeedBatch own, CoerceBatch(index, batch, made.shared));
  VERNIER_ASSIGN_OR_RETURN(const int64_t rows, RowsOfFeeds(own));
  VERNIER_TRY(CheckOneFeed(index, own));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeBatch(own));
  const auto count = static_cast<int64_t>(own.feeds.size());
  const Result<Worker::Outcome> outcome = first.InferOnly(block, own.first, count);
  if (!outcome.ok()) {
    unseen_words = first.UnseenWords();
    return AsOfFramework(outcome.status());
  }
  VERNIER_ASSIGN_OR_RETURN(made.parts, DivideOutcome(*outcome, count, rows));
  return made;
}

Result<TensorMap> BatchInference::InferAside(size_t index, const TensorMap& feed,
                                             int64_t iteration) {
  const auto holds = [iteration](const FeedBatch& batch) {
    return iteration >= batch.first && iteration - batch.first < std::ssize(batch.feeds);
  };
  const auto found = std::ranges::find_if(batches_, holds);
  if (found == batches_.end()) {
    return Unavailable("the feeds of iteration " + std::to_string(iteration) + " are gone");
  }
  FeedBatch batch = *found;
  const auto place = static_cast<size_t>(iteration - batch.first);
  batch.feeds[place] = feed;
  std::string unseen_words;
  Result<BatchParts> made = InferNow(index, batch, unseen_words);
  if (!made.ok()) {
    const Status why = AsOfOption(runner(index), made.status());
    if (why.code() != StatusCode::kCancelled)
      parts().reports.Fail(runner(index), why, unseen_words);
    return why;
  }
  return std::move(made->parts[place].outputs.tensors);
}

}  // namespace vernier
