#include "model/edit/onnx_extract.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "model/edit/model_composer.h"
#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_infer.h"
#include "model/shapes/onnx_shapes.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

// What the main graph defines, and by which node.
struct Definitions {
  explicit Definitions(const OnnxGraph& graph) : constants(InitializerNames(graph)) {
    for (const OnnxValue& value : graph.inputs) inputs.insert(value.name);
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
        if (!name.empty()) producers.emplace(name, i);
      }
    }
  }

  bool Has(std::string_view name) const {
    return producers.contains(name) || inputs.contains(name) || constants.contains(name);
  }

  Names constants, inputs;
  std::unordered_map<std::string_view, uint32_t> producers;
};

Status CheckNames(const OnnxModel& model, const Definitions& defined,
                  std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (defined.Has(name)) continue;
    return NotFound("Tensor: " + name + " does not exist in the model.\nNote: the model is '" +
                    model.path() + "'");
  }
  return {};
}

// The sizes where they follow from fixed ones, else the rank.
class KnownShapes {
 public:
  explicit KnownShapes(const OnnxModel& model) : shapes_(model, {}) {
    const auto order = TopologicalOrder(model);
    if (!order.ok()) return;
    for (const uint32_t node : *order) shapes_.Visit(model.graph(), model.graph().nodes[node]);
  }

  std::optional<std::vector<Dim>> Of(std::string_view name, std::optional<int> rank) const {
    std::vector<Dim> shape;
    if (const Dims* dims = shapes_.Find(name)) {
      for (const int64_t dim : *dims) shape.push_back({dim, {}});
      return shape;
    }
    if (!rank) return std::nullopt;
    shape.resize(static_cast<size_t>(*rank));
    return shape;
  }

 private:
  ShapeTracker shapes_;
};

}  // namespace

std::vector<TensorInfo> DescribeTensors(const OnnxModel& model,
                                        std::span<const std::string> names) {
  const OnnxGraph& graph = model.graph();
  std::unordered_map<std::string_view, TensorInfo> declared;
  const Names wanted(names.begin(), names.end());
  for (const auto* values : {&graph.value_info, &graph.inputs, &graph.outputs}) {
    for (const OnnxValue& value : *values) {
      if (wanted.contains(value.name)) declared[value.name] = ToTensorInfo(value);
    }
  }
  for (const OnnxTensor& tensor : graph.initializers) {
    if (!wanted.contains(tensor.name)) continue;
    TensorInfo info{std::string(tensor.name), tensor.dtype, std::vector<Dim>()};
    for (const int64_t dim : tensor.dims) info.shape->push_back({dim, {}});
    declared[tensor.name] = std::move(info);
  }
  std::vector<std::string_view> open;
  for (const std::string& name : names) {
    const auto found = declared.find(name);
    const bool whole = found != declared.end() && found->second.dtype != DType::kUndefined &&
                       found->second.shape.has_value();
    if (!whole) open.push_back(name);
  }
  const std::vector<InferredType> types =
      open.empty() ? std::vector<InferredType>() : InferTypes(model, open);
  std::optional<KnownShapes> shapes;
  if (!open.empty()) shapes.emplace(model);
  for (size_t i = 0; i < open.size(); ++i) {
    TensorInfo& info = declared[open[i]];
    info.name = std::string(open[i]);
    if (info.dtype == DType::kUndefined) {
      info.dtype = DTypeFromOnnx(types[i].onnx_type).value_or(DType::kUndefined);
    }
    if (!info.shape) info.shape = shapes->Of(open[i], types[i].rank);
  }
  std::vector<TensorInfo> infos;
  for (const std::string& name : names) infos.push_back(declared[name]);
  return infos;
}

Result<std::vector<uint32_t>> NodesBetween(const OnnxModel& model,
                                           std::span<const std::string> inputs,
                                           std::span<const std::string> outputs) {
  const OnnxGraph& graph = model.graph();
  const Definitions defined(graph);
  VERNIER_TRY(CheckNames(model, defined, inputs));
  VERNIER_TRY(CheckNames(model, defined, outputs));
  const Names given(inputs.begin(), inputs.end());
  std::vector<bool> needed(graph.nodes.size(), false);
  std::vector<std::string_view> open(outputs.begin(), outputs.end());
  Names seen;
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    if (given.contains(name) || defined.constants.contains(name)) continue;
    if (!seen.insert(name).second) continue;
    const auto producer = defined.producers.find(name);
    if (producer == defined.producers.end()) {
      return InvalidArgument("the outputs also need '" + std::string(name) +
                             "', which is not among the inputs of the part: add it to --inputs");
    }
    if (needed[producer->second]) continue;
    needed[producer->second] = true;
    const auto reads = ValuesReadBy(model, graph, graph.nodes[producer->second]);
    open.insert(open.end(), reads.begin(), reads.end());
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<uint32_t> order, TopologicalOrder(model));
  std::erase_if(order, [&](uint32_t node) { return !needed[node]; });
  return order;
}

Result<BytePieces> ExtractModel(const OnnxModel& model, const ExtractPlan& plan) {
  std::vector<std::string> inputs, outputs;
  for (const TensorInfo& input : plan.inputs) inputs.push_back(input.name);
  for (const TensorInfo& output : plan.outputs) outputs.push_back(output.name);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> nodes, NodesBetween(model, inputs, outputs));
  ModelComposer composer(model);
  const auto complete = [](TensorInfo info, const TensorInfo& known) {
    if (info.dtype == DType::kUndefined) info.dtype = known.dtype;
    if (!info.shape) info.shape = known.shape;
    return info;
  };
  const std::vector<TensorInfo> known_inputs = DescribeTensors(model, inputs);
  const std::vector<TensorInfo> known_outputs = DescribeTensors(model, outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    composer.AddInput(complete(plan.inputs[i], known_inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    composer.AddOutput(complete(plan.outputs[i], known_outputs[i]));
    composer.KeepInitializer(outputs[i]);
  }
  Names within;
  const OnnxGraph& graph = model.graph();
  for (const uint32_t index : nodes) {
    // An output that is cut off at the same time is an input of the part.
    TensorRenames renames;
    for (const std::string_view name : graph.Outputs(graph.nodes[index])) {
      const bool given = std::find(inputs.begin(), inputs.end(), name) != inputs.end();
      if (given) renames.emplace(name, std::string(name) + "/not_used");
      if (!given) within.insert(name);
    }
    composer.AddNode(graph, graph.nodes[index], renames);
  }
  for (const std::string& name : outputs) within.erase(name);
  for (const OnnxValue& value : graph.value_info) {
    if (within.contains(value.name)) composer.AddValueInfo(value);
  }
  return composer.Finish();
}

}  // namespace vernier
