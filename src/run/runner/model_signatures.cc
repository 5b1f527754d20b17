#include "run/runner/model_signatures.h"

#include <algorithm>
#include <utility>

#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"

namespace vernier {
namespace {

const std::vector<Dim>* ShapeIn(const std::vector<TensorInfo>& tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &TensorInfo::name);
  return found == tensors.end() || !found->shape ? nullptr : &*found->shape;
}

}  // namespace

const ModelSignatures::Signature& ModelSignatures::SignatureOf(size_t stream) {
  const auto [place, added] = signatures_.emplace(stream, Signature());
  if (!added || stream >= plan_->runners.size()) return place->second;
  const ModelPlan& model = plan_->runners[stream].model;
  if (model.type != ModelTypeName(ModelType::kOnnx)) return place->second;
  const Result<OnnxModel> read = OnnxModel::Open(model.path);
  if (!read.ok()) return place->second;
  Signature signature;
  for (const OnnxValue& value : read->graph().inputs) {
    signature.inputs.push_back(ToTensorInfo(value));
  }
  for (const OnnxValue& value : read->graph().outputs) {
    signature.outputs.push_back(ToTensorInfo(value));
  }
  if (read->CheckIntact().ok()) place->second = std::move(signature);
  return place->second;
}

const std::vector<Dim>* ModelSignatures::InputShape(size_t stream, const std::string& name) {
  return ShapeIn(SignatureOf(stream).inputs, name);
}

const std::vector<Dim>* ModelSignatures::OutputShape(size_t stream, const std::string& name) {
  return ShapeIn(SignatureOf(stream).outputs, name);
}

}  // namespace vernier
