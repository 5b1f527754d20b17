// Shapes of a model that is being changed: inferred, or seen while it runs.
#pragma once

#include "cli/arg_parser.h"
#include "cli/bind_run.h"
#include "surgeon/editable_model.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// One inference of ONNX Runtime with the model and the inputs of the command line. Errors of
/// BindRun and CheckRun.
Result<RunPlan> BindInference(const ParsedArgs& args, const Invocation& invocation, Logger& log);

/// The model gets the shapes that onnx infers, or rules of our own where Python has none.
Status InferShapes(const ParsedArgs& args, EditableModel& model, Logger& log);

/// --force-fallback-shape-inference: the model's tensors get the sizes that they have for one feed,
/// by rules, and by one inference of ONNX Runtime where rules do not cover a tensor or the command
/// line gives the feed. A tensor that cannot be had is warned of. Errors of making the feed and of
/// the inference.
Status ForceShapes(const ParsedArgs& args, const Invocation& invocation, EditableModel& model,
                   Logger& log);

}  // namespace vernier
