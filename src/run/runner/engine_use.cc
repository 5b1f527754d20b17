#include "run/runner/engine_use.h"

#include <string>

#include "backend/known/known_backends.h"
#include "model/onnx/model_type.h"

namespace vernier {
namespace {

bool IsBuilt(const RunnerPlan& runner) {
  return ModelTypeFromName(runner.model.type) == ModelType::kEngine;
}

}  // namespace

bool BuildsEngines(std::string_view backend) {
  return IsKnownToHave(backend, BackendTrait::kBuildsEngines);
}

bool BuildsEngine(const RunnerPlan& runner) {
  return BuildsEngines(runner.backend) && !IsBuilt(runner);
}

Status CheckOneEngine(const RunPlan& plan, const RunnerPlan& runner) {
  const bool sharded = plan.shard.wanted();
  if (IsBuilt(runner) || (!sharded && plan.execution.WorkersOfRunner() == 1)) return {};
  const std::string where = sharded ? "shard" : "worker";
  return InvalidArgument("runner '" + runner.name + "' would build an engine in every " + where +
                         ", and two builds need not compute the same: make it first, and give it "
                         "with --model-type engine");
}

}  // namespace vernier
