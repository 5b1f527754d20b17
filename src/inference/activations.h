// The values that runners compute, or have saved, for tensors of a model.
#pragma once

#include <atomic>
#include <string>

#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Lines with the statistics of the values of a node's tensors, or of all tensors where `layer` is
/// empty: first those of the plan's saved outputs, then those that each of its runners computes for
/// the first feed. kNotFound when none of the tensors is available.
Result<std::string> DescribeActivations(const RunPlan& plan, const OnnxModel& model,
                                        const std::string& layer,
                                        const std::atomic<int>& interrupted, Logger& log);

}  // namespace vernier
