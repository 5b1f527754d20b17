// Runners that are fed with what they gave in the step before.
#include <algorithm>

#include "run/live/live_runs.h"

namespace vernier {

void LiveRuns::Use(StepStates& steps) {
  steps_ = &steps;
  // The next feed is not known before the answer.
  KeepInStep();
}

size_t LiveRuns::IndexOf(const LiveRunner& runner) const {
  return static_cast<size_t>(
      std::ranges::find_if(runners_, [&](const LiveRunner& other) { return &other == &runner; }) -
      runners_.begin());
}

Status LiveRuns::PairStates(size_t index) {
  const LiveRunner& runner = runners_[index];
  if (steps_ == nullptr || !runner.opened()) return {};
  RunnerSides sides{runner.name(), {}, {}};
  if (!runner.inputs_unknown()) sides.inputs = runner.session().inputs;
  sides.outputs = runner.session().outputs;
  return steps_->Pair(index, sides);
}

Status LiveRuns::CheckStates() const {
  const bool all = std::ranges::all_of(runners_, &LiveRunner::opened);
  return steps_ != nullptr && all ? steps_->CheckUsed() : Status();
}

}  // namespace vernier
