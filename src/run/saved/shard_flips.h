// What --save-flips has kept in the shards of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/shards/shard_lines.h"
#include "run/feeds/streams.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The files that this shard has written, which hold these iterations in this
/// order; none where it has no flips. kMalformed where they cannot be read
/// again.
Result<std::vector<ShardFlips>> DescribeFlips(const RunPlan& plan, std::vector<int64_t> iterations);

/// One iteration, as the shard had it.
struct ShardFlip {
  TensorMap feed;
  IterationOutputs outputs;  ///< stream by stream
};

/// The flip of an iteration, by its index in parts, that one of these files
/// holds; `streams` are the names of all. kMalformed where none does, or a file
/// is not what its shard has written.
Result<ShardFlip> ReadFlip(const std::vector<ShardFlips>& flips, int64_t index,
                           const std::vector<std::string>& streams);

}  // namespace vernier
