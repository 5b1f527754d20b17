#include "model/onnx/weight_types.h"

#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

void AddTypes(const OnnxModel& model, const OnnxGraph& graph, std::vector<DType>& types) {
  const size_t before = types.size();
  const auto add = [&](DType dtype) {
    if (Kind(dtype) == DTypeKind::kFloat) types.push_back(dtype);
  };
  for (const OnnxTensor& weight : graph.initializers) add(weight.dtype);
  if (types.size() > before) return;
  for (const OnnxNode& node : graph.nodes) {
    if (node.op_type != "Constant") continue;
    NodeAttributes attributes(model, node);
    const OnnxAttribute* value = attributes.Find("value");
    if (value != nullptr && value->tensor) add(value->tensor->dtype);
  }
}

}  // namespace

std::vector<DType> FloatWeightTypes(const OnnxModel& model) {
  std::vector<DType> types;
  AddTypes(model, model.graph(), types);
  for (const OnnxGraph& body : model.contents().subgraphs) AddTypes(model, body, types);
  return types;
}

}  // namespace vernier
