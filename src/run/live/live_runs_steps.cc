// Runners that are fed with what they gave in the step before.
#include <algorithm>
#include <utility>

#include "run/live/live_runs.h"

namespace vernier {

Result<std::optional<StepStates>> LiveRuns::MakeSteps(const StepPlan& plan,
                                                      std::vector<std::string> runners,
                                                      Logger& logger) {
  if (!plan.wanted()) return std::optional<StepStates>();
  VERNIER_ASSIGN_OR_RETURN(StepStates steps, StepStates::Create(plan, std::move(runners), logger));
  return std::optional<StepStates>(std::move(steps));
}

size_t LiveRuns::IndexOf(const LiveRunner& runner) const {
  return static_cast<size_t>(
      std::ranges::find_if(runners_, [&](const LiveRunner& other) { return &other == &runner; }) -
      runners_.begin());
}

Status LiveRuns::PairStates(size_t index) {
  const LiveRunner& runner = runners_[index];
  StepStates* const states = steps();
  if (states == nullptr || !runner.opened()) return {};
  RunnerSides sides{runner.name(), {}, {}};
  if (!runner.inputs_unknown()) sides.inputs = runner.session().inputs;
  sides.outputs = runner.session().outputs;
  return states->Pair(index, sides);
}

}  // namespace vernier
