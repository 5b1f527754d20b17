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
  notes_.push_back(runner.name() + " was started again in another worker: " + why);
  VERNIER_ASSIGN_OR_RETURN(ModelPlan plan, conversions_.ModelOf(runner.plan()));
  // Those were seen to when it was opened before.
  plan.save_path.clear();
  plan.print_summary = false;
  NoLog unheard;
  StartOne(index);
  return runner.alive() ? OpenModel(index, plan, unheard) : Status();
}

std::optional<Result<IterationResult>> LiveRuns::TakeHeld(size_t index, int64_t iteration) {
  const auto held = std::ranges::find_if(held_, [&](const HeldResult& result) {
    return result.index == index && result.iteration == iteration;
  });
  if (held == held_.end()) return std::nullopt;
  std::optional<Result<IterationResult>> result = std::move(held->result);
  held_.erase(held);
  return result;
}

Result<bool> LiveRuns::InferBeforehand(size_t index, const TensorMap& feed, int64_t iteration) {
  LiveRunner& runner = runners_[index];
  if (!runner.alive()) return true;
  VERNIER_ASSIGN_OR_RETURN(const RunnerFeed own, FeedFor(runner, feed, iteration));
  VERNIER_TRY(steps_.Begin(index, runner, iteration));
  const OutputsThatStay stay =
      plan_.execution.parallel ? OutputsThatStay() : StayingOutputs(index, iteration);
  held_.push_back(HeldResult{index, iteration, runner.Infer(own.block(), iteration, stay)});
  const Result<IterationResult>& made = held_.back().result;
  if (!made.ok()) return made.status();
  return AllHaveElements(made->outputs);
}

Result<bool> LiveRuns::Try(size_t index, const TensorMap& feed) {
  LiveRunner& runner = runners_[index];
  if (interrupted_.load() != 0) return Cancelled("interrupted");
  if (!runner.alive() || runner.lost_worker()) return Unavailable("the worker is gone");
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(const CoercedFeed coerced, Coerce(runner, feed, unheard));
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(coerced.tensors));
  runner.HoldWords();
  runner.GoOn(false);
  steps_.ForgetInside(index);
  const Result<IterationResult> made = runner.InferAgain(block, 0);
  if (runner.lost_worker()) return Unavailable(made.status().message());
  if (!made.ok()) return made.status();
  return AllHaveElements(made->outputs);
}

Status LiveRuns::ChangeSizes(std::span<const DimSize> found) {
  plan_.inputs.found_dims.assign(found.begin(), found.end());
  for (const HeldResult& held : held_) runners_[held.index].ForgetInferences();
  held_.clear();
  ForgetFeed();
  NoLog unheard;
  for (size_t i = 0; i < runners_.size(); ++i) {
    LiveRunner& runner = runners_[i];
    const bool of_sizes = runner.plan().backend.starts_with("tensorrt");
    if (!of_sizes || !runner.alive() || !runner.opened()) continue;
    (void)runner.Close();
    VERNIER_ASSIGN_OR_RETURN(ModelPlan plan, conversions_.ModelOf(runner.plan()));
    plan.save_path.clear();
    plan.print_summary = false;
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
  if (!HasState(index)) return std::optional<IterationResult>();
  VERNIER_ASSIGN_OR_RETURN(const RunnerFeed own, FeedFor(runner, feed, iteration));
  VERNIER_ASSIGN_OR_RETURN(std::optional<IterationResult> again,
                           Finish(index, iteration, runner.InferAgain(own.block(), iteration)));
  const bool has_state = again && steps() != nullptr && steps()->decoding() == nullptr;
  if (has_state) VERNIER_TRY(RememberState(index, again->outputs));
  return again;
}

}  // namespace vernier
