// Inputs that pick rows of other inputs, as the beams of a search pick caches.
#pragma once

#include "vernier/runner_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A drawn feed in the names of a model, with the integers that it gives an ONNX model's Gather
/// from another input taken modulo the size that they pick from: others would be refused.
Result<TensorMap> WithRowsThatThereAre(const ModelPlan& plan, TensorMap feed);

}  // namespace vernier
