#include "blame/search/outer_tensors.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/onnx/mapped_weight.h"
#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

template <typename T>
Result<Tensor> TensorOf(DType dtype, Dims dims, std::span<const T> numbers) {
  return Tensor::Copy(dtype, std::move(dims), std::as_bytes(numbers));
}

// The file may go before the tensor does.
Result<Tensor> CopyOf(const OnnxModel& model, const OnnxTensor& tensor, const ModelPlan& plan) {
  VERNIER_ASSIGN_OR_RETURN(const MappedWeight weight,
                           MapWeight(model, tensor, {.directory = plan.external_data_dir}));
  if (!tensor.external) return weight.values;
  VERNIER_ASSIGN_OR_RETURN(Tensor copy, Tensor::Copy(weight.values.dtype(), weight.values.dims(),
                                                     weight.values.bytes()));
  VERNIER_TRY(weight.CheckIntact());
  return copy;
}

// What a Constant node holds; nullopt for text and for what the function around it gives.
std::optional<Result<Tensor>> ValueOf(const OnnxModel& model, const OnnxNode& node,
                                      const ModelPlan& plan) {
  NodeAttributes attributes(model, node);
  const auto count = [](size_t size) { return Dims{static_cast<int64_t>(size)}; };
  if (const OnnxAttribute* value = attributes.Find("value"); value != nullptr && value->tensor) {
    return CopyOf(model, *value->tensor, plan);
  }
  if (const OnnxAttribute* one = attributes.Find("value_int")) {
    return TensorOf<int64_t>(DType::kInt64, {}, std::span(&one->i, 1));
  }
  if (const OnnxAttribute* one = attributes.Find("value_float")) {
    return TensorOf<float>(DType::kFloat32, {}, std::span(&one->f, 1));
  }
  if (const OnnxAttribute* list = attributes.Find("value_ints")) {
    return TensorOf<int64_t>(DType::kInt64, count(list->ints.size()), list->ints);
  }
  if (const OnnxAttribute* list = attributes.Find("value_floats")) {
    return TensorOf<float>(DType::kFloat32, count(list->floats.size()), list->floats);
  }
  return std::nullopt;
}

// Initializers and Constant nodes.
std::optional<Result<Tensor>> ValueInFile(const BlameGraph& graph, std::string_view name,
                                          const ModelPlan& plan) {
  for (const OnnxTensor& tensor : graph.graph().initializers) {
    if (tensor.name == name) return CopyOf(graph.model(), tensor, plan);
  }
  for (const uint32_t index : graph.order()) {
    const OnnxNode& node = graph.graph().nodes[index];
    const auto outputs = graph.graph().Outputs(node);
    const bool there = node.op_type == "Constant" && outputs.size() == 1 && outputs[0] == name;
    if (there) return ValueOf(graph.model(), node, plan);
  }
  return std::nullopt;
}

}  // namespace

Result<Tensor> OuterTensors::Fetch(std::string_view name) const {
  if (const Tensor* fed = Find(feed(), name)) return *fed;
  Result<Tensor> ours = OfReference(name);
  const bool final = ours.ok() || ours.status().code() == StatusCode::kCancelled;
  if (final) return ours;
  Result<Tensor> theirs = OfCandidate(name);
  if (theirs.ok()) return theirs;
  return std::move(ours).Annotate("the value of its input '" + std::string(name) +
                                  "' is not known");
}

Result<Tensor> OuterTensors::OfReference(std::string_view name) const {
  const ModelPlan& plan =
      input_.subject.plan.run.runners[*input_.subject.sides.places.reference].model;
  if (auto held = ValueInFile(input_.reference, name, plan)) return *std::move(held);
  if (input_.source.pairs.Find(name) != nullptr) return FetchPaired(name);
  if (!input_.reference.IsMade(name)) return NotFound("the reference has no such tensor");
  return HandedOut(*input_.subject.sides.places.reference, name);
}

Result<Tensor> OuterTensors::OfCandidate(std::string_view name) const {
  const ModelPlan& plan =
      input_.subject.plan.run.runners[input_.subject.sides.places.candidate].model;
  if (auto held = ValueInFile(input_.subject.graph(), name, plan)) return *std::move(held);
  if (!input_.subject.graph().IsMade(name)) return NotFound("the candidate has no such tensor");
  return HandedOut(input_.subject.sides.places.candidate, name);
}

Result<Tensor> OuterTensors::FetchPaired(std::string_view name) const {
  std::vector<UnexposedTensor> unexposed;
  TensorsByName tensors;
  VERNIER_TRY(ReferenceProbe(input_.source, unexposed).Fetch({name}, feed(), iteration_, tensors));
  const auto found = tensors.find(name);
  if (found != tensors.end()) return found->second;
  return NotFound(unexposed.empty() ? "the reference does not expose it" : unexposed[0].why);
}

Result<Tensor> OuterTensors::HandedOut(size_t runner, std::string_view name) const {
  const RunnerPlan& plan = input_.subject.plan.run.runners[runner];
  VERNIER_ASSIGN_OR_RETURN(const TensorMap made, input_.infer(plan, {std::string(name)}, feed()));
  if (const Tensor* tensor = Find(made, name)) return *tensor;
  return NotFound("'" + plan.name + "' does not expose it");
}

}  // namespace vernier
