// An engine that is built for its file alone, or opened to describe it, without an inference.
#pragma once

#include <atomic>

#include "record/schema/engine_record.h"
#include "run/workers/embedder.h"
#include "run/workers/runner_session.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"

namespace vernier {

/// Opens the plan's one runner, whose session options say where the engine is saved, and closes it.
/// Int8 scales are chosen with the feeds of the plan. `caller` may be null. Errors are those of the
/// backend. What is known of the runner then, how the engine was built above all.
/// While it is opened, `waiting` is called (RunnerSession::Waiting).
Result<RunnerRecord> BuildEngineFile(const RunPlan& plan, const std::atomic<int>& interrupted,
                                     Logger& logger, const Embedder* caller = nullptr,
                                     const RunnerSession::Waiting& waiting = nullptr);

/// Opens the plan's one runner, whose model is an engine, and returns the engine's description of
/// itself. Errors are those of the backend.
Result<EngineRecord> DescribeEngineFile(const RunPlan& plan, const std::atomic<int>& interrupted,
                                        Logger& logger);

}  // namespace vernier
