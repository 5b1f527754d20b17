// What random feeds are made like, beyond the words of the command line: the ranges that a model's
// graph demands, and a sample that is imitated.
#pragma once

#include <span>

#include "inputs/random_feeds.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Adds to `options` what plan.inputs.from_graph and plan.inputs.like ask for, and says what and
/// why. A range or shape that the user gave for an input stays. kUnimplemented where ranges are to
/// come from a model that is not ONNX; kMalformed for a sample that cannot be read, or lacks an
/// input (with plan.lenient a warning).
Status AddFeedSources(const RunPlan& plan, std::span<const TensorInfo> inputs,
                      RandomFeedOptions& options, Logger& logger);

}  // namespace vernier
