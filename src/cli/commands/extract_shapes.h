// Shapes and types of the tensors that a part of a model begins and ends with.
#pragma once

#include "cli/arg_parser.h"
#include "cli/bind_run.h"
#include "model/onnx_cut.h"
#include "model/onnx_model.h"
#include "run/worker_pool.h"
#include "util/log.h"
#include "vernier/status.h"

namespace vernier {

/// The model as --shape-inference and --fp-to-fp16 make it, else as it is.
Result<OnnxModel> LoadForExtraction(const ParsedArgs& args, WorkerPool& pool, Logger& log);

/// Fills in what the command line left open and the model does not declare: first from the
/// operators and --model-input-shapes, then from onnx where Python has it, then from one inference
/// of ONNX Runtime. With --force-fallback-shape-inference also what the model declares. What cannot
/// be found out is said and stays open. kNotFound for a shape of an input that the model lacks;
/// errors of the command line.
Status CompleteCut(const ParsedArgs& args, const Invocation& invocation, const OnnxModel& model,
                   CutPlan& plan, Logger& log);

}  // namespace vernier
