// Shapes of a model that is being changed: inferred, or seen while it runs.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/worker/shape_inference.h"
#include "surgeon/editable_model.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Where the one feed comes from that a model is run with.
struct FeedSource {
  bool given = false;              ///< by the user: rules are not asked first
  std::string library;             ///< of ONNX Runtime; empty: found
  std::vector<std::string> flags;  ///< that say how it is made: warned of where nothing is fed
  /// One inference of ONNX Runtime with the model and its inputs, if rules do not suffice.
  std::function<Result<RunPlan>()> inference;
};

/// Of commands that infer shapes without being asked to.
struct ShapeInference {
  bool wanted = true;   ///< when the model is loaded, and after changes
  bool forced = false;  ///< instead of that all sizes become those of one feed: see ForceShapes()
};

/// Warns of options of a feed that was not needed.
void WarnOfUnusedFeed(std::span<const std::string> flags, Logger& log);

/// Whether rules determine the shapes and types of all tensors of the main graph; the model gets
/// them then. No worker is used. Errors of WithShapesThatFollow.
Result<bool> TakeShapesThatFollow(EditableModel& model);

/// The model gets the shapes that onnx infers, or rules of our own where Python has none.
Status InferShapes(EditableModel& model, const ExecutionPlan& execution, ShapeTool tool,
                   const std::atomic<int>& interrupted, Logger& log);

/// The model's tensors get the sizes that they have for one feed: by rules, and by one inference of
/// ONNX Runtime where rules do not cover a tensor or the feed is given. A warning names a tensor
/// that is not available. Errors of making the feed and of the inference.
Status ForceShapes(EditableModel& model, const FeedSource& source,
                   const std::atomic<int>& interrupted, Logger& log);

}  // namespace vernier
