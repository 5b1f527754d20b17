#include "run/live/noise_floor.h"

#include <set>
#include <string>

#include "compare/functions/error_bound.h"
#include "run/runner/neutral_settings.h"

namespace vernier {
namespace {

// Sessions of a worker are identified by number; runners have their places in the plan.
constexpr uint64_t kSession = 1'000'000;

}  // namespace

Result<std::unique_ptr<NoiseFloor>> NoiseFloor::Create(const RunnerPlan& reference,
                                                       const BackendInfo& backend) {
  RunnerPlan plan = reference;
  plan.name += ", other settings";
  plan.model.save_path.clear();
  plan.model.print_summary = false;
  std::set<std::string> changed;
  for (const auto& [key, value] : NeutralSettings(backend)) {
    if (changed.insert(key).second) ReplaceSetting(plan, key, value);
  }
  if (changed.empty()) {
    return InvalidArgument("--noise-floor: no settings are known that '" + reference.backend +
                           "' could be measured with: its plug-in declares none; put an ONNX "
                           "Runtime, OpenVINO or TensorFlow runner first, or use --tolerance auto "
                           "alone (not with --shard)");
  }
  return std::unique_ptr<NoiseFloor>(new NoiseFloor(std::move(plan)));
}

Status NoiseFloor::Open(WorkerPool& pool, const ModelSource& model) {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, pool.Get(plan_));
  twin_.Attach(std::move(worker), kSession);
  return twin_.Open(model).Annotate("--noise-floor, " + plan_.name);
}

Status NoiseFloor::Measure(const TensorMap& feed, int64_t iteration,
                           const IterationResult& reference, PairErrorBounds& bounds) {
  VERNIER_ASSIGN_OR_RETURN(const TensorBlock block, EncodeTensors(feed));
  VERNIER_ASSIGN_OR_RETURN(const IterationResult again,
                           twin_.Infer(block, iteration).Annotate("--noise-floor, " + plan_.name));
  for (const NamedTensor& output : reference.outputs) {
    const Tensor* other = Find(again.outputs, output.name);
    if (other == nullptr || other->dims() != output.tensor.dims()) continue;
    VERNIER_ASSIGN_OR_RETURN(const BoundVerdict measured,
                             MeasureAgainstBound(output.tensor, *other, {}));
    bounds.AddNoise(output.name, measured.rms);
  }
  return {};
}

}  // namespace vernier
