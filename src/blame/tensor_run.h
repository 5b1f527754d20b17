// Values of tensors of a model, for whoever wants to look at them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What the plan's first runner computes, from the plan's first feed, for these tensors of its ONNX
/// model's main graph; inputs of the graph are as fed. A tensor that cannot be had is missing.
/// Errors are those of opening the model, of making the feed and of running; kCancelled when
/// `interrupted` holds a signal.
Result<TensorMap> RunForTensors(const RunPlan& plan, const std::vector<std::string>& names,
                                const std::atomic<int>& interrupted, Logger& logger);

}  // namespace vernier
