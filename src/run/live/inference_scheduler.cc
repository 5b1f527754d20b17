#include "run/live/inference_scheduler.h"

#include <algorithm>
#include <future>
#include <utility>

#include "run/live/output_uses.h"
#include "run/live/size_search.h"
#include "run/workers/embedder.h"

namespace vernier {

InferenceScheduler::InferenceScheduler(const RunPlan& plan, const std::atomic<int>& interrupted,
                                       Logger& logger, const Embedder* caller,
                                       const RunnerSession::Waiting& waiting)
    : RunnerPool(plan, interrupted, logger, caller, waiting),
      may_stay_on_device_(OutputsAreOnlyCompared(plan) &&
                          (caller == nullptr || !caller->keeps_outputs)),
      sent_(this->plan(), all(), feeds(), sequences(), devices()) {}

void InferenceScheduler::Close(size_t index) {
  batches_.reset();
  lanes_.reset();
  // Further workers after the first one.
  RunnerPool::Close(index,
                    [&] { return replicas_ == nullptr ? Status() : replicas_->Close(index); });
}

OutputsThatStay InferenceScheduler::StayingOutputs(size_t index, int64_t iteration) {
  std::vector<std::string> states = sequences().Staying(index, iteration);
  if (states.empty() && !may_stay_on_device_) return {};
  return {&devices(), std::move(states)};
}

Result<std::optional<IterationResult>> InferenceScheduler::Finish(size_t index, int64_t iteration,
                                                                  Result<IterationResult> result) {
  RunnerSession& runner = (*this)[index];
  if (!result.ok()) {
    if (result.status().code() == StatusCode::kCancelled) return result.status();
    // Whatever code a framework gives while it computes: it is the one that failed.
    reports().Fail(runner, BackendError(result.status().message() + feeds().NoteOnSizes(iteration) +
                                        feeds().NoteOnMask(index)));
    return std::optional<IterationResult>();
  }
  reports().LogReceived(runner);
  VERNIER_ASSIGN_OR_RETURN(result, sequences().Keep(index, iteration, *std::move(result)));
  return std::optional<IterationResult>(*std::move(result));
}

Result<std::optional<SentFeed>> InferenceScheduler::FeedOf(size_t index, const TensorMap& feed,
                                                           int64_t iteration) {
  Result<SentFeed> own = sent_.For(index, feed, iteration);
  if (own.ok()) return std::optional<SentFeed>(*std::move(own));
  if (own.status().code() != StatusCode::kBackend) return own.status();
  reports().Fail((*this)[index], own.status());
  return std::optional<SentFeed>();
}

Result<std::optional<IterationResult>> InferenceScheduler::Infer(size_t index,
                                                                 const TensorMap& feed,
                                                                 int64_t iteration,
                                                                 const WorkMeanwhile& meanwhile) {
  RunnerSession& runner = (*this)[index];
  if (!runner.alive()) return std::optional<IterationResult>();
  if (iteration < 0 && plan().execution.batch_feeds > 1) return WarmUpBatch(index, feed, iteration);
  if (sequences().Has(index, iteration)) {
    VERNIER_ASSIGN_OR_RETURN(IterationResult part, sequences().Take(index, iteration));
    return std::optional<IterationResult>(std::move(part));
  }
  VERNIER_TRY(BringBack(index));
  if (!sequences().HasState(index)) return sequences().Miss(index);
  VERNIER_ASSIGN_OR_RETURN(const std::optional<SentFeed> sent, FeedOf(index, feed, iteration));
  if (!sent) return std::optional<IterationResult>();
  const SentFeed& own = *sent;
  reports().LogInputs(runner);
  std::optional<Result<IterationResult>> held = held_.Take(index, iteration);
  if (!held) {
    if (const Status begun = sequences().Begin(index, iteration); !begun.ok()) {
      // What is saved has no gaps.
      if (!sequences().may_stay()) return Finish(index, iteration, begun);
      sequences().LoseSequence(index, begun);
      return sequences().Miss(index);
    }
  }
  Result<IterationResult> made =
      held ? *std::move(held)
           : runner.Infer(own.block(), iteration, StayingOutputs(index, iteration),
                          [&] { sent_.SendAhead(index, iteration, meanwhile); });
  sent_.LookAt(feed, made);
  if (made.ok() && own.shared != nullptr) reports().CheckReceived(runner, iteration);
  return Finish(index, iteration, std::move(made));
}

Result<InferenceScheduler::SideBySide> InferenceScheduler::InferSideBySide(
    std::span<const size_t> who, const TensorMap& feed, int64_t iteration) {
  std::vector<std::optional<SentFeed>> sent(size());
  for (const size_t i : who) {
    if (!(*this)[i].alive() || sequences().Has(i, iteration)) continue;
    VERNIER_ASSIGN_OR_RETURN(sent[i], FeedOf(i, feed, iteration));
  }
  SideBySide side_by_side(*this, iteration);
  auto& made = side_by_side.made_;
  std::vector<std::future<Result<IterationResult>>> inferring(size());
  for (size_t i = 0; i < size(); ++i) {
    if (!sent[i]) continue;
    (*this)[i].HoldLog();
    made[i] = held_.Take(i, iteration);
    if (made[i]) continue;
    if (const Status begun = sequences().Begin(i, iteration); !begun.ok()) {
      made[i].emplace(begun);
      continue;
    }
    // If no thread is available, get() does this synchronously.
    inferring[i] = std::async([&, i] { return (*this)[i].Infer(sent[i]->block(), iteration); });
  }
  for (size_t i = 0; i < size(); ++i) {
    if (!sent[i]) continue;
    if (inferring[i].valid()) made[i].emplace(inferring[i].get());
    if (made[i]->ok() && sent[i]->shared != nullptr) {
      reports().CheckReceived((*this)[i], iteration);
    }
  }
  return side_by_side;
}

Result<std::optional<IterationResult>> InferenceScheduler::SideBySide::Settle(size_t index) {
  RunnerSession& runner = runs_[index];
  if (made_[index]) {
    runs_.reports().LogInputs(runner);
    runner.ReleaseLog();
    return runs_.Finish(index, iteration_, *std::exchange(made_[index], std::nullopt));
  }
  if (!runner.alive() || !runs_.sequences().Has(index, iteration_)) {
    return std::optional<IterationResult>();
  }
  VERNIER_ASSIGN_OR_RETURN(IterationResult part, runs_.sequences().Take(index, iteration_));
  return std::optional<IterationResult>(std::move(part));
}

Result<bool> InferenceScheduler::InferBeforehand(size_t index, const TensorMap& feed,
                                                 int64_t iteration) {
  RunnerSession& runner = (*this)[index];
  if (!runner.alive()) return true;
  VERNIER_ASSIGN_OR_RETURN(const SentFeed own, sent_.For(index, feed, iteration));
  VERNIER_TRY(sequences().Begin(index, iteration));
  const OutputsThatStay stay =
      plan().execution.parallel ? OutputsThatStay() : StayingOutputs(index, iteration);
  const Result<IterationResult>& made =
      held_.Hold(index, iteration, runner.Infer(own.block(), iteration, stay));
  if (!made.ok()) return made.status();
  return AllHaveElements(made->outputs);
}

Status InferenceScheduler::ChangeSizes(std::span<const DimSize> found) {
  held_.Drop(all());
  ForgetFeed();
  return ReopenFor(found);
}

Result<std::optional<IterationResult>> InferenceScheduler::Restore(
    size_t index, const TensorMap& feed, int64_t iteration, std::optional<IterationResult> made) {
  const auto lost = [this](const NamedTensor& output) { return devices().Lost(output.tensor); };
  if (!made || std::none_of(made->outputs.begin(), made->outputs.end(), lost)) return made;
  VERNIER_TRY(BringBack(index));
  RunnerSession& runner = (*this)[index];
  // It counts as made.
  if (!sequences().HasState(index)) return std::optional<IterationResult>();
  VERNIER_ASSIGN_OR_RETURN(const SentFeed own, sent_.For(index, feed, iteration));
  // What it keeps inside went with the worker.
  if (const Status begun = sequences().Begin(index, iteration); !begun.ok()) {
    if (!sequences().may_stay()) return Finish(index, iteration, begun);
    sequences().LoseSequence(index, begun);
    return std::optional<IterationResult>();
  }
  VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> again,
                           Finish(index, iteration, runner.InferAgain(own.block(), iteration)));
  if (again) VERNIER_TRY(sequences().RememberAgain(index, again->outputs));
  return again;
}

}  // namespace vernier
