// template trt-network|trt-config|onnx-gs: scripts to be filled in by hand, which Polygraphy and
// this program run.
#pragma once

#include <cstdint>
#include <string>

#include "options/bind/bind_run.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

enum class PythonTemplate : uint8_t { kNetwork, kConfig, kGraph };

/// `plan` has one runner, with the model (its path may be empty but for kGraph) and the profiles of
/// --trt-min-shapes and the like. kInvalidArgument for words that have no NAME:TYPE.
Result<std::string> WritePythonTemplate(PythonTemplate kind, const RunPlan& plan,
                                        const Invocation& invocation);

}  // namespace vernier
