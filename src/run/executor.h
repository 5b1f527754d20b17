// Carries out a RunPlan: feeds go through every runner, outputs are compared and dropped.
#pragma once

#include <atomic>

#include "run/outcome/run_observer.h"
#include "run/outcome/run_outcome.h"
#include "run/workers/embedder.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Runs the plan to its end in any case: when a runner fails, the others continue, and
/// finished results are published. `interrupted` is set by a signal handler. `caller` may be
/// null.
RunOutcome ExecuteRun(const RunPlan& plan, Logger& logger, RunObserver& observer,
                      const std::atomic<int>& interrupted, const Embedder* caller = nullptr);

}  // namespace vernier
