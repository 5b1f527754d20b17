// What both sides are fed with.
#pragma once

#include <span>
#include <vector>

#include "model/shapes/onnx_shapes.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// All feeds that the plan asks for, at least one. `inputs` are those of the runner that random
/// feeds are made for; scripts run in a worker of `pool`. kInvalidArgument when there is none, and
/// the errors of RunScripts::Open and FeedStream.
Result<std::vector<TensorMap>> CollectFeeds(const RunPlan& plan, std::span<const TensorInfo> inputs,
                                            WorkerPool& pool, Logger& logger);

/// Of the feed with the most bytes; there is at least one.
std::vector<InputDims> DimsOfLargest(const std::vector<TensorMap>& feeds);

}  // namespace vernier
