// Runners whose worker was ended by another runner: they go on in a new one.
#include <algorithm>
#include <utility>

#include "run/live/live_runs.h"
#include "run/live/size_search.h"
#include "util/no_log.h"

namespace vernier {

// Each restart follows the failure of a runner, so there are fewer of them than runners. Not in
// process: what hangs there goes on and may hold the framework's locks.
const LiveRunner* LiveRuns::WhoEndedWorkerOf(const LiveRunner& runner) const {
  if (!runner.alive() || !runner.lost_worker() || plan_.execution.in_process) return nullptr;
  const auto guilty = std::find_if(runners_.begin(), runners_.end(), [&](const LiveRunner& other) {
    return !other.alive() && other.shared_worker_with(runner);
  });
  return guilty == runners_.end() ? nullptr : &*guilty;
}

Status LiveRuns::BringBack(size_t index) {
  LiveRunner& runner = runners_[index];
  const LiveRunner* const guilty = WhoEndedWorkerOf(runner);
  if (guilty == nullptr) return {};
  const std::string why = guilty->name() + " ended the worker that they shared";
  logger_.Warning(PadName(runner.name()) + " | Starting again in another worker: " + why);
  reports_.Note(runner.name() + " was started again in another worker: " + why);
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan plan, opener_.ModelAgain(runner.plan()));
  NoLog unheard;
  StartOne(index);
  return runner.alive() ? OpenModel(index, plan, unheard) : Status();
}

Result<bool> LiveRuns::InferBeforehand(size_t index, const TensorMap& feed, int64_t iteration) {
  LiveRunner& runner = runners_[index];
  if (!runner.alive()) return true;
  VERNIER_ASSIGN_OR_RETURN(const RunnerFeed own, FeedFor(index, feed, iteration));
  VERNIER_TRY(steps_.Begin(index, runner, iteration));
  const OutputsThatStay stay =
      plan_.execution.parallel ? OutputsThatStay() : StayingOutputs(index, iteration);
  const Result<IterationResult>& made =
      held_.Hold(index, iteration, runner.Infer(own.block(), iteration, stay));
  if (!made.ok()) return made.status();
  return AllHaveElements(made->outputs);
}

Status LiveRuns::ChangeSizes(std::span<const DimSize> found) {
  plan_.inputs.found_dims.assign(found.begin(), found.end());
  held_.Drop(runners_);
  ForgetFeed();
  NoLog unheard;
  for (size_t i = 0; i < runners_.size(); ++i) {
    LiveRunner& runner = runners_[i];
    const bool of_sizes = runner.backend().Has(BackendTrait::kBuildsEngines);
    if (!of_sizes || !runner.alive() || !runner.opened()) continue;
    (void)runner.Close();
    VERNIER_ASSIGN_OR_RETURN(const ModelPlan plan, opener_.ModelAgain(runner.plan()));
    StartOne(i);
    if (runner.alive()) VERNIER_TRY(OpenModel(i, plan, unheard));
  }
  return {};
}

Result<std::optional<IterationResult>> LiveRuns::Restore(size_t index, const TensorMap& feed,
                                                         int64_t iteration,
                                                         std::optional<IterationResult> made) {
  const auto lost = [this](const NamedTensor& output) { return devices_.Lost(output.tensor); };
  if (!made || std::none_of(made->outputs.begin(), made->outputs.end(), lost)) return made;
  VERNIER_TRY(BringBack(index));
  LiveRunner& runner = runners_[index];
  // It counts as made.
  if (!HasState(index)) return std::optional<IterationResult>();
  VERNIER_ASSIGN_OR_RETURN(const RunnerFeed own, FeedFor(index, feed, iteration));
  // What it keeps inside went with the worker.
  if (const Status begun = steps_.Begin(index, runner, iteration); !begun.ok()) {
    if (!steps_.may_stay()) return Finish(index, iteration, begun);
    LoseSequence(index, begun);
    return std::optional<IterationResult>();
  }
  VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> again,
                           Finish(index, iteration, runner.InferAgain(own.block(), iteration)));
  if (again && steps() != nullptr) {
    VERNIER_TRY(FailWithoutState(index, steps()->RememberAgain(index, again->outputs)));
  }
  return again;
}

}  // namespace vernier
