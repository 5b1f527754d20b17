// From the command line to an inference of a model and what it should show.
#pragma once

#include "inference/extract_shapes.h"
#include "inference/model_shapes.h"
#include "model/edit/onnx_extract.h"
#include "model/onnx/onnx_model.h"
#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "run/workers/worker_pool.h"
#include "surgeon/editable_model.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The model as --shape-inference and --fp-to-fp16 make it, else as it is.
Result<OnnxModel> LoadAsAsked(const ParsedArgs& args, WorkerPool& pool, Logger& log);

/// InferShapes() with the workers and the tool of the command line.
Status InferShapesAsAsked(const ParsedArgs& args, EditableModel& model, Logger& log);

/// The feed of --force-fallback-shape-inference. All arguments must outlive it.
FeedSource BindFeedSource(const ParsedArgs& args, const Invocation& invocation, Logger& log);

/// CompleteExtract() with the feed of the command line.
Status CompleteExtractAsAsked(const ParsedArgs& args, const Invocation& invocation,
                              const PartRequest& part, const OnnxModel& model, ExtractPlan& plan,
                              Logger& log);

}  // namespace vernier
