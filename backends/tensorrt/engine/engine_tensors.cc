#include "tensorrt/engine/engine_tensors.h"

#include <string>
#include <utility>

#include "tensorrt/library/trt_words.h"

namespace vernier::trt {
namespace {

// The formats of DLA are its own.
Result<std::optional<TensorLayout>> LayoutOfTensor(nvinfer1::ICudaEngine& engine,
                                                   const char* name) {
  const nvinfer1::TensorFormat format = engine.getTensorFormat(name);
  if (format == nvinfer1::TensorFormat::kLINEAR) return std::optional<TensorLayout>();
  const std::optional<TensorLayout> layout = LayoutOf(static_cast<int32_t>(format));
  const DType dtype = DTypeOf(static_cast<int32_t>(engine.getTensorDataType(name)));
  if (layout && BitsOf(dtype) % 8 == 0) return layout;
  return Unimplemented("'" + std::string(name) +
                       "' has a format that is not read here: " + engine.getTensorFormatDesc(name));
}

bool IsInt64In(const vn_model& model, const std::string& input) {
  for (size_t i = 0; i < model.input_count; ++i) {
    if (sdk::View(model.inputs[i]->name) != input) continue;
    if (sdk::SpecOf(*model.inputs[i]).dtype == DType::kInt64) return true;
  }
  return false;
}

Result<EngineTensor> ReadEngineTensor(nvinfer1::ICudaEngine& engine, const char* name,
                                      const vn_model& model) {
  EngineTensor tensor;
  tensor.is_input = engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
  tensor.type = static_cast<int32_t>(engine.getTensorDataType(name));
  sdk::TensorSpec& spec = tensor.spec;
  spec.name = name;
  spec.shape = ShapeOf(engine.getTensorShape(name));
  spec.dtype = DTypeOf(tensor.type);
  const Result<std::optional<TensorLayout>> layout = LayoutOfTensor(engine, name);
  if (!layout.ok() && tensor.is_input) return layout.status();
  if (spec.dtype == DType::kUndefined) {
    spec.skipped = "TensorRT's type " + std::to_string(tensor.type);
  }
  if (!layout.ok()) spec.skipped = layout.status().message();
  if (layout.ok()) tensor.layout = *layout;
  if (!tensor.is_input) return tensor;
  tensor.host = engine.isShapeInferenceIO(name);
  tensor.narrow = spec.dtype == DType::kInt32 && IsInt64In(model, spec.name);
  if (tensor.narrow) spec.dtype = DType::kInt64;
  return tensor;
}

}  // namespace

Result<std::vector<EngineTensor>> ReadTensors(nvinfer1::ICudaEngine& engine,
                                              const vn_model& model) {
  std::vector<EngineTensor> tensors;
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) {
    VERNIER_ASSIGN_OR_RETURN(EngineTensor tensor,
                             ReadEngineTensor(engine, engine.getIOTensorName(i), model));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace vernier::trt
