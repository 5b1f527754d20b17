// An engine built for its file alone, with no inference.
#pragma once

#include <atomic>

#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Opens the plan's one runner, whose session options say where the engine is saved, and closes it.
/// Int8 scales are chosen with the feeds of the plan. Errors are those of the backend.
Status BuildEngineFile(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger);

}  // namespace vernier
