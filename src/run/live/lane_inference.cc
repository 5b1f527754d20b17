#include "run/live/lane_inference.h"

#include <algorithm>
#include <utility>

#include "run/lanes/feed_blocks.h"

namespace vernier {
namespace {

// Does an inference leave a file behind, as timelines of TensorFlow are?
bool SavesFiles(const RunnerPlan& runner) {
  return std::any_of(runner.session_options.begin(), runner.session_options.end(),
                     [](const auto& option) { return option.first.starts_with("save_"); });
}

}  // namespace

bool MaySendAhead(const ExecutionPlan& plan, const RunnerSession& runner) {
  return runner.in_plugin() && !plan.in_process && !SavesFiles(runner.plan());
}

LaneInference::LaneInference(const Parts& parts, bool lends)
    : parts_(parts),
      lends_(lends),
      batch_(static_cast<size_t>(parts.plan.execution.batch_feeds)),
      lanes_(parts.replicas.lanes()) {}

void LaneInference::Send(std::span<const size_t> who, const TensorMap& feed, int64_t iteration) {
  SharedFeed shared;
  std::vector<LaneTask> tasks;
  for (const size_t index : who) {
    if (!runner(index).alive() || parts_.held.Has(index, iteration)) continue;
    Result<CoercedFeed> coerced = parts_.feeds.Coerce(index, feed);
    if (!coerced.ok()) continue;
    const bool unchanged = SameTensors(coerced->tensors, feed);
    const FeedBatch own{iteration, {std::move(coerced->tensors)}};
    Result<LaneTask> task = TaskOf(index, own, unchanged, shared);
    if (task.ok()) tasks.push_back(*std::move(task));
  }
  if (!tasks.empty()) lanes_.Add(iteration, std::move(tasks));
}

Result<LaneTask> LaneInference::TaskOf(size_t index, const FeedBatch& coerced, bool unchanged,
                                       SharedFeed& shared) {
  LaneTask task;
  task.runner = index;
  task.batch = batch_feeds();
  task.replica = &parts_.replicas.Of(lanes_.LaneOf(coerced.first / task.batch), index);
  task.count = std::ssize(coerced.feeds);
  task.shared = unchanged;
  task.ahead = MaySendAhead(parts_.plan.execution, runner(index));
  if (unchanged) task.feed = shared;
  if (task.feed != nullptr) return task;
  VERNIER_ASSIGN_OR_RETURN(TensorBlock block,
                           EncodeBatch(coerced, unchanged && lends_ ? &memory_ : nullptr));
  task.feed = {new TensorBlock(std::move(block)), [this](const TensorBlock* read) {
                 if (read->lent != 0) memory_.TakeBack(read->lent);
                 delete read;
               }};
  if (unchanged) shared = task.feed;
  return task;
}

bool LaneInference::Has(size_t index) const {
  const auto task = std::ranges::find(collected_, index, &LaneTask::runner);
  return task != collected_.end() && task->outcome;
}

std::optional<LaneTask> LaneInference::TakeTask(size_t index) {
  if (!LaneInference::Has(index)) return std::nullopt;
  const auto found = std::ranges::find(collected_, index, &LaneTask::runner);
  LaneTask task = std::move(*found);
  collected_.erase(found);
  Worker::LogLines(task.said, parts_.reports.logger());
  return task;
}

Result<LaneOutcome> LaneInference::Take(size_t index, int64_t iteration) {
  std::optional<LaneTask> task = TakeTask(index);
  if (!task) return Internal("iteration " + std::to_string(iteration) + " was not sent to a lane");
  return LaneOutcome{*std::move(task->outcome), task->shared, std::move(task->unseen_words)};
}

}  // namespace vernier
