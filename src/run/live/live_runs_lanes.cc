// Runners with several workers: opened in each, and what they infer ahead of their turn.
#include <algorithm>
#include <string>
#include <utility>

#include "run/live/live_runs.h"
#include "util/no_log.h"

namespace vernier {

Status LiveRuns::OpenReplicas() {
  if ((lane_count() <= 1 && batch_feeds() <= 1) || lanes_) return {};
  VERNIER_TRY(CheckBatchSessions());
  lends_to_lanes_ = MayLendFeeds();
  StartReplicas();
  for (size_t i = 0; i < runners_.size(); ++i) VERNIER_TRY(OpenReplicasOf(i));
  lanes_.emplace(lane_count());
  return {};
}

// All of them before the first is opened: they load their frameworks side by side.
void LiveRuns::StartReplicas() {
  for (size_t lane = 1; lane < lane_count(); ++lane) {
    for (size_t i = 0; i < runners_.size(); ++i) {
      LiveRunner& replica = replicas_.emplace_back(runners_[i].plan());
      if (plan_.lenient) replica.LeaveOutParts();
      if (!runners_[i].opened()) continue;
      Result<std::shared_ptr<Worker>> worker = WorkerFor(runners_[i], places_[i], lane);
      if (worker.ok()) {
        replica.Attach(*std::move(worker), i);
      } else {
        FailReplica(lane, i, worker.status());
      }
    }
  }
}

Status LiveRuns::OpenReplicasOf(size_t index) {
  LiveRunner& runner = runners_[index];
  if (!runner.opened()) return {};
  VERNIER_ASSIGN_OR_RETURN(ModelPlan plan, conversions_.ModelOf(runner.plan()));
  // Those were seen to when it was opened first.
  plan.save_path.clear();
  plan.print_summary = false;
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(const SessionParts parts, PrepareSession(runner.plan(), plan, unheard));
  for (size_t lane = 1; lane < lane_count() && runner.alive(); ++lane) {
    LiveRunner& replica = ReplicaOf(lane, index);
    const Status status = replica.Open(*parts.model, parts.options, plan_.inputs.found_dims);
    if (status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kCancelled) {
      return status;
    }
    if (!status.ok()) FailReplica(lane, index, status);
    if (status.ok()) NoteOtherDevice(lane, index);
    if (status.ok() && plan_.execution.hash_inputs) replica.HashInputs();
  }
  return {};
}

// Devices of one kind give the same bits.
void LiveRuns::NoteOtherDevice(size_t lane, size_t index) {
  const std::string& here = ReplicaOf(lane, index).session().device;
  const std::string& first = runners_[index].session().device;
  if (here == first) return;
  NoteOnce(runners_[index].name() + ": worker " + std::to_string(lane + 1) + " computes on " +
           here + ", and the first on " + first +
           ": outputs may depend on which of them has an iteration");
}

void LiveRuns::FailReplica(size_t lane, size_t index, const Status& why) {
  const std::string which =
      "worker " + std::to_string(lane + 1) + " of " + std::to_string(lane_count()) + ": ";
  Fail(runners_[index], Status(why.code(), which + why.message()),
       ReplicaOf(lane, index).UnseenWords());
}

Status LiveRuns::WarmReplicas(size_t index, const TensorMap& feed, int64_t iteration) {
  LiveRunner& runner = runners_[index];
  if (!lanes_ || !runner.alive()) return {};
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, Coerce(runner, feed, unheard));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeForWarmUp(runner, coerced.tensors));
  for (size_t lane = 1; lane < lane_count() && runner.alive(); ++lane) {
    const Status status = ReplicaOf(lane, index).InferOnly(block, iteration).status();
    if (status.code() == StatusCode::kCancelled) return status;
    if (!status.ok()) FailReplica(lane, index, BackendError(status.message()));
  }
  return {};
}

bool LiveRuns::HoldsResult(size_t index, int64_t iteration) const {
  return std::ranges::any_of(held_, [&](const HeldResult& held) {
    return held.index == index && held.iteration == iteration;
  });
}

Result<std::optional<IterationResult>> LiveRuns::InferInLane(size_t index, const TensorMap& feed,
                                                             int64_t iteration) {
  LiveRunner& runner = runners_[index];
  if (!runner.alive()) return std::optional<IterationResult>();
  if (batch_feeds() > 1) return InferInBatch(index, feed, iteration);
  const auto task = std::ranges::find(collected_, index, &LaneTask::runner);
  if (task == collected_.end() || !task->outcome) {
    // Its first worker is the one that infers now.
    lanes_->Wait();
    return Infer(index, feed, iteration);
  }
  VERNIER_TRY(CoerceAndNote(runner, feed).status());
  LogInputs(runner);
  Worker::LogLines(task->said, logger_);
  Result<Worker::Outcome> outcome = *std::exchange(task->outcome, std::nullopt);
  Result<IterationResult> made = outcome.ok() ? runner.Take(*std::move(outcome), iteration)
                                              : Result<IterationResult>(outcome.status());
  if (made.ok() && task->shared) CheckReceived(runner, iteration);
  if (made.ok() || made.status().code() == StatusCode::kCancelled) {
    return Finish(index, iteration, std::move(made));
  }
  Fail(runner, BackendError(made.status().message() + NoteOnSizes(iteration)), task->unseen_words);
  return std::optional<IterationResult>();
}

}  // namespace vernier
