// Runners whose worker was ended by another runner: they go on in a new one.
#include <algorithm>
#include <utility>

#include "run/live_runs.h"
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

Result<std::optional<IterationResult>> LiveRuns::Restore(size_t index, const TensorMap& feed,
                                                         int64_t iteration,
                                                         std::optional<IterationResult> made) {
  const auto lost = [this](const NamedTensor& output) { return devices_.Lost(output.tensor); };
  if (!made || std::none_of(made->outputs.begin(), made->outputs.end(), lost)) return made;
  VERNIER_TRY(BringBack(index));
  LiveRunner& runner = runners_[index];
  if (!runner.alive()) return std::optional<IterationResult>();
  VERNIER_ASSIGN_OR_RETURN(const RunnerFeed own, FeedFor(runner, feed, iteration));
  return Finish(index, iteration, runner.InferAgain(own.block(), iteration));
}

}  // namespace vernier
