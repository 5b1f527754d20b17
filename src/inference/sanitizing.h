// A model cleaned up: outputs chosen, shapes set, constants folded, what is unused removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/worker/shape_inference.h"
#include "inference/model_shapes.h"
#include "surgeon/constant_folding.h"
#include "surgeon/editable_model.h"
#include "surgeon/upper_bounds.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What is done, in this order.
struct SanitizePlan {
  ModelPlan model;                 ///< its selection of outputs
  ShapeInference shapes;           ///< by the model's tool
  std::vector<UpperBound> bounds;  ///< of sizes that nothing limits
  std::vector<TensorInfo> inputs;  ///< with these shapes; tensors within become inputs
  FeedSource feeds;                ///< for forced shapes; its library computes constants
  bool cleanup = false;            ///< what nothing uses goes
  bool sort = false;               ///< nodes behind what they read
  bool fold = false;               ///< what does not depend on inputs becomes a constant
  FoldOptions folding;
  std::optional<int64_t> passes;  ///< of folding at most; not given: until nothing changes
  bool infer_each_pass = true;    ///< shapes, between passes
  ExecutionPlan execution;        ///< of the workers
};

/// Changes the model, and logs how it was once it is loaded. kNotFound for names that it lacks,
/// kUnavailable where constants are to be folded and ONNX Runtime is not there, kCancelled.
Status Sanitize(const SanitizePlan& plan, EditableModel& model, const std::atomic<int>& interrupted,
                Logger& log);

}  // namespace vernier
