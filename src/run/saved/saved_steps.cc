#include "run/saved/saved_steps.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/saved/fed_states.h"
#include "run/saved/step_feeding.h"

namespace vernier {
namespace {

// The steps of each sequence: of equal feeds one after another only their number tells them apart.
std::vector<int64_t> LengthsOf(const SavedRuns& loaded, size_t run, const StepPlan& plan) {
  std::vector<int64_t> lengths = loaded.StepsOf(run);
  if (lengths.empty() || !plan.steps) return lengths;
  lengths.clear();
  for (int64_t rest = loaded.runs()[run].iterations; rest > 0; rest -= *plan.steps) {
    lengths.push_back(std::min(rest, *plan.steps));
  }
  return lengths;
}

}  // namespace

std::unique_ptr<SavedSteps> SavedSteps::Find(const RunPlan& plan, const SavedRuns& loaded,
                                             Logger& logger) {
  if (!plan.runners.empty() || plan.shard.wanted() || plan.lenient) return nullptr;
  std::unique_ptr<SavedSteps> found(new SavedSteps(plan));
  std::vector<std::string> names;
  std::vector<StepStates::SavedSide> sides;
  std::vector<int64_t> lengths;
  StepPlan& steps = found->plan_.steps;
  for (size_t i = 0; i < loaded.runs().size(); ++i) {
    const SavedRuns::Run& run = loaded.runs()[i];
    if (!CutIterations(run.steps).empty()) return nullptr;
    SavedFeeding feeding = ReadFeeding(run.steps);
    names.push_back(run.name);
    sides.push_back({std::move(feeding.pairs), std::move(feeding.tokens)});
    if (!steps.decodes()) {
      steps.decode = feeding.plan.decode;
      steps.decode_stop = feeding.plan.decode_stop;
    }
    if (!lengths.empty() || run.steps.empty() || IsMixedFeeding(run.steps)) continue;
    lengths = LengthsOf(loaded, i, feeding.plan);
    steps.feed_back = feeding.plan.feed_back;
    steps.steps = feeding.plan.steps;
    steps.state = feeding.plan.state;
  }
  if (lengths.empty()) return nullptr;
  found->states_ = StepStates::OfSaved(steps, std::move(names), std::move(sides), lengths, logger);
  return found;
}

}  // namespace vernier
