#include "check/runners/row_indices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "inputs/cast_tensor.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_model.h"

namespace vernier {
namespace {

Result<Tensor> Modulo(const Tensor& indices, int64_t size) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(indices, DType::kInt64));
  const std::span<const int64_t> values = wide.As<int64_t>();
  std::vector<int64_t> bounded(values.begin(), values.end());
  for (int64_t& value : bounded) value %= size;
  VERNIER_ASSIGN_OR_RETURN(const Tensor made, Tensor::Copy(DType::kInt64, indices.dims(),
                                                           std::as_bytes(std::span(bounded))));
  return CastTensor(made, indices.dtype());
}

// The size that a Gather picks from; 0 where it is not known.
int64_t SizePickedFrom(const OnnxModel& model, const OnnxNode& node, const Tensor& data) {
  const auto rank = static_cast<int64_t>(data.dims().size());
  int64_t axis = NodeAttributes(model, node).Int("axis", 0);
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? data.dims()[static_cast<size_t>(axis)] : 0;
}

}  // namespace

Result<TensorMap> WithRowsThatThereAre(const ModelPlan& plan, TensorMap feed) {
  if (plan.type != "onnx") return feed;
  const Result<OnnxModel> model = OnnxModel::Open(plan.path);
  if (!model.ok()) return feed;
  for (const OnnxNode& node : model->graph().nodes) {
    const auto inputs = model->graph().Inputs(node);
    if (node.op_type != "Gather" || !node.domain.empty() || inputs.size() < 2) continue;
    const Tensor* const data = Find(feed, inputs[0]);
    const auto indices = std::ranges::find(feed, inputs[1], &NamedTensor::name);
    if (data == nullptr || indices == feed.end()) continue;
    const int64_t size = SizePickedFrom(*model, node, *data);
    if (size <= 0) continue;
    VERNIER_ASSIGN_OR_RETURN(indices->tensor, Modulo(indices->tensor, size));
  }
  return feed;
}

}  // namespace vernier
