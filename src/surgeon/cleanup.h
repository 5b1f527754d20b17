// Removes what a graph does not need, and orders the rest.
#pragma once

#include "model/onnx/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

/// The model without nodes that contribute to no output of their graph, in bodies too, and without
/// the initializers and annotations that nothing reads any more. Inputs and outputs stay.
/// Errors as RewriteGraphs.
Result<OnnxModel> WithoutUnused(const OnnxModel& model);

/// The model with the nodes of every graph in an order in which they can run; an order that is one
/// already stays. kMalformed when nodes wait for each other.
Result<OnnxModel> InOrder(const OnnxModel& model);

}  // namespace vernier
