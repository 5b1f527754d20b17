// `check accuracy ROWS`: the decisions of saved rows against other gates, without running anything.
#pragma once

#include <string>

#include "run/exit_code.h"
#include "util/log.h"
#include "vernier/decision_plan.h"

namespace vernier {

/// Folds the rows in their order, so that the figures are those of the run that saved them, and
/// logs them and every gate. `path` is as for ForEachDecisionRow(); of `options` the gates count,
/// and `near_tie`, by which flips are told apart anew. Faults: a gate is missed; nothing was
/// decided, or there is no gate; errors of ForEachDecisionRow().
RunFaults JudgeRows(const std::string& path, const DecisionOptions& options, Logger& log);

}  // namespace vernier
