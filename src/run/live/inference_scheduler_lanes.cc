// Runners that infer before their turn: several iterations at the same time, or at once.
#include <optional>
#include <string>
#include <utility>

#include "run/live/inference_scheduler.h"

namespace vernier {

Status InferenceScheduler::OpenLanes() {
  const int64_t at_once = plan().execution.batch_feeds;
  if ((plan().execution.WorkersOfRunner() <= 1 && at_once <= 1) || lanes() != nullptr) return {};
  if (at_once > 1) {
    VERNIER_TRY(CheckBatchRunners(all()));
    reports().NoteOnce("--batch-feeds " + std::to_string(at_once) + ": up to " +
                       std::to_string(at_once) +
                       " iterations were one inference, and each has its share of the time");
  }
  const bool lends = sent_.MayLend();
  replicas_ = std::make_unique<RunnerReplicas>(plan(), all(), opener(), reports());
  VERNIER_TRY(replicas_->Open(python_feeds()));
  const LaneInference::Parts parts{plan(), *replicas_, feeds(), reports(), held_};
  if (at_once > 1) {
    batches_ = std::make_unique<BatchInference>(parts, lends);
  } else {
    lanes_ = std::make_unique<LaneInference>(parts, lends);
  }
  return {};
}

Status InferenceScheduler::WarmReplicas(size_t index, const TensorMap& feed, int64_t iteration) {
  if (lanes() == nullptr || !(*this)[index].alive()) return {};
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, feeds().Coerce(index, feed));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block,
                           EncodeForWarmUp(plan(), (*this)[index], coerced.tensors));
  return replicas_->Warm(index, block, iteration);
}

Result<std::optional<IterationResult>> InferenceScheduler::WarmUpBatch(size_t index,
                                                                       const TensorMap& feed,
                                                                       int64_t iteration) {
  RunnerSession& runner = (*this)[index];
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced,
                           feeds().CoerceAndNote(index, feed, iteration));
  reports().LogInputs(runner);
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block,
                           EncodeForWarmUp(plan(), runner, coerced.tensors));
  return Finish(index, iteration, runner.Infer(block, iteration));
}

InferenceScheduler::InLanes InferenceScheduler::Collect(int64_t iteration) {
  lanes()->Collect(iteration);
  return {*this, iteration};
}

Result<std::optional<IterationResult>> InferenceScheduler::InLanes::Take(size_t index,
                                                                         const TensorMap& feed) {
  RunnerSession& runner = runs_[index];
  if (!runner.alive()) return std::optional<IterationResult>();
  LaneInference& lanes = *runs_.lanes();
  if (!lanes.Has(index)) {
    // Its first worker is the one that infers now.
    lanes.Wait();
    return runs_.Infer(index, feed, iteration_);
  }
  RunnerFeeds& feeds = runs_.feeds();
  RunnerReports& reports = runs_.reports();
  VERNIER_TRY(feeds.CoerceAndNote(index, feed, iteration_).status());
  reports.LogInputs(runner);
  VERNIER_ASSIGN_OR_RETURN(LaneOutcome inferred, lanes.Take(index, iteration_));
  Result<IterationResult> made = inferred.outcome.ok()
                                     ? runner.Take(*std::move(inferred.outcome), iteration_)
                                     : Result<IterationResult>(inferred.outcome.status());
  if (made.ok() && inferred.shared) reports.CheckReceived(runner, iteration_);
  if (made.ok() || made.status().code() == StatusCode::kCancelled) {
    return runs_.Finish(index, iteration_, std::move(made));
  }
  reports.Fail(runner, BackendError(made.status().message() + feeds.NoteOnSizes(iteration_)),
               inferred.unseen_words);
  return std::optional<IterationResult>();
}

std::vector<LoadedModule> InferenceScheduler::LoadedModules() {
  if (lanes() != nullptr) lanes()->Wait();
  return opener().workers().LoadedModules();
}

}  // namespace vernier
