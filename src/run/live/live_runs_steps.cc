// Runners that are fed with what they gave in the step before.
#include <algorithm>
#include <utility>

#include "run/live/live_runs.h"

namespace vernier {

Result<const StepStates*> LiveRuns::MakeSteps() {
  if (!plan_.steps.wanted()) return nullptr;
  VERNIER_ASSIGN_OR_RETURN(StepStates steps, StepStates::Create(plan_.steps, names(), logger_));
  steps_.emplace(std::move(steps));
  // The next feed is not known before the answer.
  KeepInStep();
  return &*steps_;
}

size_t LiveRuns::IndexOf(const LiveRunner& runner) const {
  return static_cast<size_t>(
      std::ranges::find_if(runners_, [&](const LiveRunner& other) { return &other == &runner; }) -
      runners_.begin());
}

Status LiveRuns::PairStates(size_t index) {
  const LiveRunner& runner = runners_[index];
  if (!steps_ || !runner.opened()) return {};
  RunnerSides sides{runner.name(), {}, {}};
  if (!runner.inputs_unknown()) sides.inputs = runner.session().inputs;
  sides.outputs = runner.session().outputs;
  return steps_->Pair(index, sides);
}

}  // namespace vernier
