#include "inference/converting.h"

#include <utility>

#include "model/onnx/model_type.h"
#include "run/engine/engine_build.h"
#include "run/runner/model_conversion.h"
#include "run/runner/resolve_runner.h"
#include "run/workers/model_source.h"
#include "run/workers/worker_pool.h"

namespace vernier {
namespace {

// The model in a format that is not TensorFlow's: in a file that lives as long as `conversions`.
Result<ModelPlan> LeaveTensorFlow(const RunnerPlan& source, ModelConversions& conversions) {
  const std::optional<ModelType> type = ModelTypeFromName(source.model.type);
  if (!type || !IsTensorFlowModel(*type)) return source.model;
  RunnerPlan reader = source;
  ConvertToOnnx(reader);
  return conversions.ModelOf(reader);
}

}  // namespace

Status ConvertModel(const ConversionPlan& plan, const std::atomic<int>& interrupted, Logger& log,
                    const RunnerSession::Waiting& waiting) {
  WorkerPool pool(plan.execution, interrupted, log);
  ModelConversions conversions(pool, log);
  VERNIER_ASSIGN_OR_RETURN(ModelPlan model, LeaveTensorFlow(plan.source, conversions));
  if (plan.build) {
    RunPlan build = *plan.build;
    build.runners.front().model = std::move(model);
    return BuildEngineFile(build, interrupted, log, nullptr, waiting).status();
  }
  model.save_path = plan.output;
  return ModelSource::Save(model, log, [&] { return pool.GetForScripts(); });
}

}  // namespace vernier
