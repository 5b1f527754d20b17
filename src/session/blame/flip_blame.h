// blame over flips (--on-flips): the layers are searched with the inputs whose decisions differ.
#pragma once

#include <atomic>

#include "blame/search/blame_run.h"
#include "run/executor.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Whether a run of this plan can give a search its flips. kInvalidArgument, naming the flag: no
/// decision, a side that is saved, steps, runners in turn.
Status CheckFlipBlame(const RunPlan& run);

/// As ExecuteBlame, with the inputs of the worst flips in the place of all: both sides run over the
/// feeds of the plan, and a few iterations are searched (RunOutcome::flips). The record has them
/// under `on_flips`. If nothing flips, nothing is to blame, and no layer is examined. Faults: a
/// mismatch where a layer is to blame or a flip is clear; incomplete where not everything was
/// decided.
BlameOutcome ExecuteFlipBlame(const BlamePlan& plan, Logger& logger,
                              const std::atomic<int>& interrupted);

/// The same after such a run, whose plan asked for it.
BlameOutcome SearchFlips(const BlamePlan& plan, const RunOutcome& ran, Logger& logger,
                         const std::atomic<int>& interrupted);

}  // namespace vernier
