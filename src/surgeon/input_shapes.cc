#include "surgeon/input_shapes.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "model/edit/model_composer.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_infer.h"
#include "model/shapes/onnx_shapes.h"
#include "surgeon/graph_parts.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

const TensorInfo* FindInfo(std::span<const TensorInfo> infos, std::string_view name) {
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [&](const TensorInfo& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

// Sizes that depended on the old shapes are left open.
void ForgetSizes(std::vector<Dim>& shape) { std::fill(shape.begin(), shape.end(), Dim{}); }

std::vector<InputDims> FixedInputs(const OnnxModel& model, int64_t open) {
  std::vector<InputDims> fixed;
  if (open < 0) return fixed;
  for (const TensorInfo& input : model.RequiredInputs()) {
    if (!input.shape) continue;
    InputDims& dims = fixed.emplace_back(InputDims{input.name, {}});
    for (const Dim& dim : *input.shape) dims.dims.push_back(dim.dynamic() ? open : dim.value);
  }
  return fixed;
}

std::vector<Dim> ToShape(const Dims& dims) {
  std::vector<Dim> shape;
  for (const int64_t size : dims) shape.push_back({size, {}});
  return shape;
}

// The declaration of a tensor, if there is anything new to say of it.
using Declaration = std::function<std::optional<std::string>(std::string_view name)>;

Result<OnnxModel> WithDeclared(const OnnxModel& model, const Declaration& declare, bool inputs) {
  const OnnxGraph& graph = model.graph();
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    if (!here.main) return {};
    std::unordered_map<std::string_view, size_t> declared;
    for (size_t i = 0; i < graph.value_info.size(); ++i) declared[graph.value_info[i].name] = i;
    const auto set = [&](std::vector<std::string_view>& list, size_t i, std::string_view name) {
      if (auto made = declare(name)) list[i] = here.store.Keep(*std::move(made));
    };
    for (size_t i = 0; i < graph.inputs.size() && inputs; ++i) {
      set(here.parts.inputs, i, graph.inputs[i].name);
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      set(here.parts.outputs, i, graph.outputs[i].name);
      declared.emplace(graph.outputs[i].name, SIZE_MAX);
    }
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string_view name : graph.Outputs(node)) {
        const auto at = declared.find(name);
        if (at != declared.end() && at->second == SIZE_MAX) continue;
        if (at != declared.end()) {
          set(here.parts.value_info, at->second, name);
        } else if (auto made = declare(name)) {
          here.parts.value_info.push_back(here.store.Keep(*std::move(made)));
        }
      }
    }
    return {};
  });
}

bool IsSized(const OnnxValue& value) {
  const TensorInfo info = ToTensorInfo(value);
  return info.dtype != DType::kUndefined && info.shape &&
         std::none_of(info.shape->begin(), info.shape->end(),
                      [](const Dim& dim) { return dim.dynamic(); });
}

}  // namespace

Result<OnnxModel> WithInputShapes(const OnnxModel& model, std::span<const TensorInfo> inputs) {
  const OnnxGraph& graph = model.graph();
  for (const TensorInfo& given : inputs) {
    const bool known =
        std::any_of(graph.inputs.begin(), graph.inputs.end(),
                    [&](const OnnxValue& input) { return input.name == given.name; });
    if (!known) return NotFound("the model has no input " + QuotePython(given.name));
  }
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    if (!here.main) return {};
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const TensorInfo* given = FindInfo(inputs, graph.inputs[i].name);
      if (given == nullptr) continue;
      TensorInfo info = *given;
      if (info.dtype == DType::kUndefined) info.dtype = graph.inputs[i].dtype;
      here.parts.inputs[i] = here.store.Keep(MakeValueInfo(info));
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      TensorInfo info = ToTensorInfo(graph.outputs[i]);
      if (graph.outputs[i].kind != OnnxValueKind::kTensor || !info.shape) continue;
      ForgetSizes(*info.shape);
      here.parts.outputs[i] = here.store.Keep(MakeValueInfo(info));
    }
    here.parts.value_info.clear();
    return {};
  });
}

Result<OnnxModel> WithShapesThatFollow(const OnnxModel& model, int64_t open) {
  const OnnxGraph& graph = model.graph();
  // With sizes in the place of open ones, what is declared need not hold.
  ShapeTracker shapes(model, FixedInputs(model, open),
                      open < 0 ? ShapeTrust::kAll : ShapeTrust::kInputs);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order, TopologicalOrder(model));
  for (const uint32_t index : order) shapes.Visit(graph, graph.nodes[index]);
  const ValueTypes types = InferGraphTypes(model, graph, {});
  const auto known = [&](std::string_view name) -> std::optional<std::string> {
    const auto type = types.find(name);
    const Dims* dims = shapes.Find(name);
    const auto dtype = type == types.end() ? std::nullopt : DTypeFromOnnx(type->second);
    if (dims == nullptr || !dtype || *dtype == DType::kUndefined) return std::nullopt;
    return MakeValueInfo({std::string(name), *dtype, ToShape(*dims)});
  };
  return WithDeclared(model, known, open >= 0);
}

std::vector<std::string> TensorsOfNodes(const OnnxModel& model, bool sized) {
  const OnnxGraph& graph = model.graph();
  std::unordered_set<std::string_view> known;
  for (const auto* values : {&graph.value_info, &graph.outputs}) {
    for (const OnnxValue& value : *values) {
      if (!sized && IsSized(value)) known.insert(value.name);
    }
  }
  std::vector<std::string> names;
  for (const OnnxNode& node : graph.nodes) {
    if (node.op_type == "Constant") continue;
    for (const std::string_view name : graph.Outputs(node)) {
      if (!name.empty() && !known.contains(name)) names.emplace_back(name);
    }
  }
  return names;
}

Result<OnnxModel> WithTensors(const OnnxModel& model, std::span<const TensorInfo> found) {
  std::unordered_map<std::string_view, const TensorInfo*> infos;
  for (const TensorInfo& info : found) infos[info.name] = &info;
  const auto declare = [&](std::string_view name) -> std::optional<std::string> {
    const auto info = infos.find(name);
    return info == infos.end() ? std::nullopt : std::optional(MakeValueInfo(*info->second));
  };
  return WithDeclared(model, declare, true);
}

}  // namespace vernier
