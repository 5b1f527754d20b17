#include "run/live/side_inference.h"

#include <memory>
#include <utility>

#include "run/live/size_search.h"

namespace vernier {
namespace {

// For an inference on the host, whatever holds the tensors of the feed.
Result<TensorBlock> EncodeForHost(InferenceScheduler& live, size_t index, const TensorMap& feed) {
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, live.feeds().Coerce(index, feed));
  VERNIER_TRY(live.devices().FetchAll(coerced.tensors));
  return EncodeTensors(coerced.tensors);
}

}  // namespace

Result<bool> TryInference(InferenceScheduler& live, size_t index, const TensorMap& feed) {
  RunnerSession& runner = live[index];
  if (live.interrupted()) return Cancelled("interrupted");
  if (!runner.alive() || runner.lost_worker()) return Unavailable("the worker is gone");
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, live.feeds().Coerce(index, feed));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(coerced.tensors));
  runner.HoldWords();
  runner.GoOn(false);
  live.sequences().ForgetInside(index);
  const Result<IterationResult> made = runner.InferAgain(block, 0);
  if (runner.lost_worker()) return Unavailable(made.status().message());
  if (!made.ok()) return made.status();
  return AllHaveElements(made->outputs);
}

Result<TensorMap> InferAside(InferenceScheduler& live, size_t index, const TensorMap& feed,
                             int64_t iteration) {
  RunnerSession& runner = live[index];
  if (live.lanes() != nullptr) live.lanes()->Wait();
  VERNIER_TRY(live.BringBack(index));
  if (!runner.alive()) return runner.failure();
  if (live.batches() != nullptr) return live.batches()->InferAside(index, feed, iteration);
  // Not between steps: the next one would find another state.
  if (runner.keeps_state() && live.steps() != nullptr) {
    return Unavailable(runner.name() + " keeps its state inside: no step can be made twice");
  }
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeForHost(live, index, feed));
  Result<IterationResult> made = runner.InferAgain(block, iteration);
  if (!made.ok()) {
    live.reports().Fail(runner, made.status());
    return made.status();
  }
  return std::move(made->outputs);
}

Result<TensorMap> InferAsideWith(InferenceScheduler& live, size_t index, const ModelSource& model,
                                 const TensorMap& feed, int64_t iteration) {
  // Sessions of a worker are identified by number; runners have their places in the plan.
  constexpr uint64_t kSession = 2'000'000;
  if (live.lanes() != nullptr) live.lanes()->Wait();
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeForHost(live, index, feed));
  const RunnerPlan& plan = live[index].plan();
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, live.opener().WorkerFor(index, plan));
  RunnerSession other(plan);
  other.Attach(std::move(worker), kSession);
  const Status opened =
      other.Open(model, live.opener().OwnOptions(plan), live.plan().inputs.found_dims);
  Result<IterationResult> made =
      opened.ok() ? other.InferAgain(block, iteration) : Result<IterationResult>(opened);
  (void)other.Close();
  if (!made.ok()) return made.status();
  return std::move(made->outputs);
}

}  // namespace vernier
