// An ONNX model as a plan changes it, read as one.
#pragma once

#include "model/onnx/onnx_model.h"
#include "run/workers/worker_pool.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The model with the shapes and in the types that the plan asks for, else as its file is. Shapes
/// are inferred by a Python worker of `pool`. Errors as ModelSource::Prepare.
Result<OnnxModel> LoadChanged(ModelPlan plan, WorkerPool& pool, Logger& log);

}  // namespace vernier
