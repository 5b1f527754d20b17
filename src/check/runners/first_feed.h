// The feeds that a check is tried with.
#pragma once

#include <span>
#include <vector>

#include "check/runners/probe.h"
#include "vernier/run_plan.h"
#include "vernier/tensor.h"

namespace vernier {

/// The first one that the plan draws, loads or has a script make. `inputs` are those that the
/// runner takes. Errors are FeedStream's and RunScripts'; kMalformed where there is none.
Result<TensorMap> MakeFirstFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                const Probe::Shared& shared, Logger& logger);

/// The one after that; kMalformed where there is none.
Result<TensorMap> MakeSecondFeed(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                 const Probe::Shared& shared, Logger& logger);

/// What --input-shapes gives in turn: a feed of each shape. One feed where none is given twice.
Result<std::vector<TensorMap>> MakeGivenFeeds(const RunPlan& plan,
                                              std::span<const TensorInfo> inputs,
                                              const Probe::Shared& shared, Logger& logger);

}  // namespace vernier
