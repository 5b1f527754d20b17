#include "run/live/live_sizes.h"

#include <vector>

#include "run/live/side_inference.h"
#include "run/saved/saved_progress.h"

namespace vernier {
namespace {

// Those that take any sizes.
std::vector<size_t> WhoTryAnySizes(const InferenceScheduler& live) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < live.size(); ++i) {
    const bool of_sizes = live[i].backend().Has(BackendTrait::kBuildsEngines);
    if (!of_sizes && live[i].alive() && live[i].opened()) indices.push_back(i);
  }
  return indices;
}

// What an object of the calling program raises is its answer, and calls have effects: by itself it
// is not called with other sizes.
bool OnlyCallersFailed(const InferenceScheduler& live, std::span<const size_t> who,
                       const SizeTrial& trial) {
  bool any = false;
  for (size_t i = 0; i < who.size(); ++i) {
    if (trial.runners[i].at_one.ok()) continue;
    if (!ServedByCaller(live[who[i]].plan())) return false;
    any = true;
  }
  return any;
}

}  // namespace

Result<FoundSizes> SettleSizes(const RunPlan& plan, std::span<const TensorInfo> inputs,
                               const SizeSettling& settling) {
  InferenceScheduler& live = settling.live;
  const std::vector<size_t> askable = WhoTryAnySizes(live);
  if (askable.empty() || !SizesAreGuessed(plan, inputs)) return FoundSizes();
  const Result<TensorMap> first = settling.draw(plan);
  if (!first.ok()) return FoundSizes();  // reported where it is made in earnest
  SizeTrial trial{settling.draw, {}, settling.logger};
  for (const size_t who : askable) {
    const auto infer = [&live, who](const TensorMap& feed) {
      return TryInference(live, who, feed);
    };
    // Sizes of what is there already were settled then, and have to be found again. The first feed
    // of the whole run is that of the first shard alone: others only try it.
    const bool saved =
        settling.progress != nullptr && settling.progress->Has(who, settling.iteration);
    // Other trials lose the state that the first step leaves inside a runner.
    const bool only_tried = saved || plan.shard.number > 1 || live.sequences().StateIsInside(who);
    trial.runners.push_back(
        {live[who].name(), infer,
         only_tried ? infer(*first) : live.InferBeforehand(who, *first, settling.iteration)});
    const Result<bool>& full = trial.runners.back().at_one;
    if (full.status().code() == StatusCode::kCancelled) return full.status();
    if (!full.ok() && !WhyNotSizeOne(full)) return FoundSizes();
  }
  if (OnlyCallersFailed(live, askable, trial)) return FoundSizes();
  VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan, inputs, trial));
  live.feeds().NoteTried(found.tried_for_note());
  if (!found.note.empty()) live.reports().NoteFirst(found.note);
  for (size_t i = 0; i < live.size(); ++i) live[i].DropTrialWords();
  if (found.some_refused || !found.unsteady.ok()) {
    settling.logger.Warning(found.note);
  } else if (!found.note.empty()) {
    settling.logger.Info(found.note);
  }
  if (!found.dims.empty()) VERNIER_TRY(live.ChangeSizes(found.dims));
  return found;
}

}  // namespace vernier
