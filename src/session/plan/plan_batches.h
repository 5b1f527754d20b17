// Which plans can put several feeds into one inference.
#pragma once

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, naming the setting, for an invalid number of feeds (--batch-feeds),
/// and, with several of them, for whatever needs each iteration to be an inference of its
/// own.
Status CheckBatchFeeds(const RunPlan& plan);

}  // namespace vernier
