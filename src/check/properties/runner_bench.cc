#include "check/properties/runner_bench.h"

#include "model/shapes/shape_conflicts.h"

namespace vernier {
namespace {

std::string FoundConflict(const ModelPlan& plan, const TensorMap& feed) {
  if (plan.type != "onnx") return "";
  const Result<OnnxModel> model = OnnxModel::Open(plan.path);
  if (!model.ok()) return "";
  std::vector<InputDims> inputs;
  for (const NamedTensor& input : feed) inputs.push_back({input.name, input.tensor.dims()});
  return FindShapeConflict(*model, inputs);
}

// Of a runner against itself, with inputs of these sizes.
PairErrorBounds BoundsFor(const RunPlan& plan, const Probe& probe, const TensorMap& feed) {
  PairErrorBounds bounds(plan.compare);
  if (!bounds.wanted()) return bounds;
  bounds.AddRunner(0, probe.runner());
  bounds.AddRunner(1, probe.runner());
  bounds.SetFeed(feed);
  return bounds;
}

}  // namespace

RunnerBench::RunnerBench(const Given& given)
    : given_(given),
      predicted_(BoundsFor(given.plan, *given.probe, given.feed)),
      bounds_(predicted_.wanted() ? predicted_.For(0, 1, given.outputs) : none_),
      wider_(given_.runner, bounds_) {}

Result<TensorMap> RunnerBench::Draw(const FreeSizes& sizes) {
  return given_.drawer.WithSizes(*given_.probe, given_.feed, sizes, given_.runner.shared.logger);
}

Result<TensorMap> RunnerBench::Another(const TensorMap& feed) {
  return given_.drawer.Another(*given_.probe, feed, given_.runner.shared.logger);
}

Result<std::vector<TensorMap>> RunnerBench::DrawGiven() {
  return given_.drawer.OfGivenShapes(*given_.probe, given_.runner.shared.logger);
}

const RowPlan& RunnerBench::Rows() {
  if (!rows_) {
    rows_ = ScoutRows({.probe = *given_.probe,
                       .feed = given_.feed,
                       .rows = given_.rows,
                       .draw = [this](const FreeSizes& sizes) { return Draw(sizes); },
                       .open = [this] { return given_.runner.Open(); },
                       .meeting = [this](auto in, auto out) { return Meeting(in, out); }});
  }
  return *rows_;
}

// A model that is no ONNX shows nothing.
std::vector<MeetingRows> RunnerBench::Meeting(std::span<const BatchedInput> inputs,
                                              std::span<const std::string> outputs) {
  const ModelPlan& plan = given_.runner.plan.model;
  if (plan.type != "onnx") return {};
  const Result<OnnxModel> model = OnnxModel::Open(plan.path);
  return model.ok() ? FindMeetingRows(*model, inputs, outputs) : std::vector<MeetingRows>();
}

std::string RunnerBench::RefusedByAll(const TensorMap& feed) {
  std::string why = FoundConflict(given_.runner.plan.model, feed);
  return !why.empty() ? why : OthersRefuse(feed);
}

// That every other framework of the plan refuses a feed as well; empty where there is none, or one
// takes it.
std::string RunnerBench::OthersRefuse(const TensorMap& feed) const {
  const Probe::Shared& shared = given_.runner.shared;
  std::string refuse;
  for (const RunnerPlan& other : given_.plan.runners) {
    if (other.backend == given_.runner.plan.backend) continue;
    const auto model = ModelSource::Prepare(other.model, shared.logger);
    if (!model.ok()) return "";
    const auto probe = Probe::Open(shared, other, **model);
    if (!probe.ok()) return "";
    const Result<TensorMap> coerced = (*probe)->Coerce(feed, shared.logger);
    if (!coerced.ok() || (*probe)->Infer(*coerced).ok()) return "";
    if ((*probe)->runner().lost_worker()) return "";
    refuse += (refuse.empty() ? "" : ", ") + other.backend;
  }
  return refuse.empty() ? "" : "so does " + refuse;
}

const ErrorBounds& RunnerBench::BoundsOf(const TensorMap& feed, const TensorMap& outputs) {
  if (!predicted_.wanted()) return none_;
  if (!of_others_) of_others_.emplace(BoundsFor(given_.plan, *given_.probe, feed));
  return of_others_->For(0, 1, outputs);
}

}  // namespace vernier
