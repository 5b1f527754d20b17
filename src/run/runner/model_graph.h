// A model's graph for the record.
#pragma once

#include <optional>

#include "vernier/graph_record.h"
#include "vernier/run_plan.h"

namespace vernier {

/// The graph that pages show: of the plan's first ONNX model that can be read, the nodes of the
/// main graph in an order in which they can run, without weights and without what sub-graphs hold
/// inside.
std::optional<GraphRecord> FindModelGraph(const RunPlan& plan);

}  // namespace vernier
