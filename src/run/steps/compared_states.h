// Is there anything left for --compare-state to compare?
#pragma once

#include "run/steps/step_states.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Once all runners were paired: kInvalidArgument where the plan asks for states at every step, and
/// --compare logits or --map-outputs leaves out all of them.
Status CheckStatesCompared(const RunPlan& plan, const StepStates& states);

/// `logits` looks at outputs that are fed back only where it names them.
Status StatesLeftOutByLogits();

}  // namespace vernier
