// `check accuracy ROWS`: re-checks the decisions of saved rows against new gates.
#pragma once

#include <string>

#include "run/outcome/exit_code.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Folds the rows in their order, so that the figures are those of the run that saved them, and
/// logs them and every gate. `path` is as for ForEachDecisionRow(); of `plan` the gates, labels and
/// `strict` count, the decisions that are named, if any is, and `near_tie`, by which flips are
/// judged anew. Faults: a gate is missed; nothing was decided, or there is no gate; the run that
/// saved the rows was not complete; `strict` and a gate is undecided, or agreement shows nothing;
/// errors of ForEachDecisionRow().
RunFaults JudgeRows(const std::string& path, const RunPlan& plan, Logger& log);

}  // namespace vernier
