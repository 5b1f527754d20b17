#include "model/onnx/weight_types.h"

#include "model/onnx/onnx_attributes.h"

namespace vernier {

std::vector<DType> FloatWeightTypes(const OnnxModel& model) {
  std::vector<DType> types;
  const auto add = [&](DType dtype) {
    if (Kind(dtype) == DTypeKind::kFloat) types.push_back(dtype);
  };
  for (const OnnxTensor& weight : model.graph().initializers) add(weight.dtype);
  if (!types.empty()) return types;
  for (const OnnxNode& node : model.graph().nodes) {
    if (node.op_type != "Constant") continue;
    NodeAttributes attributes(model, node);
    const OnnxAttribute* value = attributes.Find("value");
    if (value != nullptr && value->tensor) add(value->tensor->dtype);
  }
  return types;
}

}  // namespace vernier
