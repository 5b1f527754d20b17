// The feed that a check is tried with.
#pragma once

#include <span>

#include "check/probe.h"
#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

/// The first one that the plan draws, loads or has a script make. `inputs` are those that the
/// runner takes. Errors are FeedStream's and RunScripts'; kMalformed where there is none.
Result<TensorMap> MakeFirstFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                const Probe::Shared& shared, Logger& logger);

}  // namespace vernier
