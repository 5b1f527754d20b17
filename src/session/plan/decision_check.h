// Checks of decisions, their labels and gates before anything is compared.
#pragma once

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The part of ValidatePlan() that is about decisions: for those who compare without running.
/// kInvalidArgument: a decision is given twice, a gate needs what is not given, as --max-drop does
/// labels, or labels are for no decision.
Status CheckDecisions(const RunPlan& plan);

}  // namespace vernier
