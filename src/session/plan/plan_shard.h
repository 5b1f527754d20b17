// Which plans can be divided into shards.
#pragma once

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, naming the setting, for an invalid shard, and, with --shard, for whatever the
/// iterations of other shards would have changed.
Status CheckShard(const RunPlan& plan);

}  // namespace vernier
