// The stand-in's ONNX parser: a layer for each node, by vernier's own reader of models.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "network.h"

namespace trt_standin {
namespace {

LayerType TypeOfNode(std::string_view op_type) {
  static const std::map<std::string_view, LayerType> kTypes = {
      {"Conv", LayerType::kCONVOLUTION},        {"Relu", LayerType::kACTIVATION},
      {"Tanh", LayerType::kACTIVATION},         {"GlobalAveragePool", LayerType::kREDUCE},
      {"MatMul", LayerType::kMATRIX_MULTIPLY},  {"Identity", LayerType::kIDENTITY},
      {"NonZero", LayerType::kNON_ZERO},        {"Expand", LayerType::kSLICE},
      {"QuantizeLinear", LayerType::kQUANTIZE}, {"DequantizeLinear", LayerType::kDEQUANTIZE},
  };
  const auto found = kTypes.find(op_type);
  return found == kTypes.end() ? LayerType::kPLUGIN_V3 : found->second;
}

DataType TypeOf(vernier::DType dtype) {
  switch (dtype) {
    case vernier::DType::kFloat16:
      return DataType::kHALF;
    case vernier::DType::kInt8:
      return DataType::kINT8;
    case vernier::DType::kInt32:
      return DataType::kINT32;
    case vernier::DType::kInt64:
      return DataType::kINT64;
    case vernier::DType::kBool:
      return DataType::kBOOL;
    default:
      return DataType::kFLOAT;
  }
}

class Error final : public NotedParserError {
 public:
  Error(std::string node, std::string op_type) : node_(std::move(node)), op_(std::move(op_type)) {
    text_ = "no importer registered for op: " + op_;
  }
  nvonnxparser::ErrorCode code() const override {
    return nvonnxparser::ErrorCode::kUNSUPPORTED_NODE;
  }
  char const* desc() const override { return text_.c_str(); }
  char const* nodeName() const override { return node_.c_str(); }
  char const* nodeOperator() const override { return op_.c_str(); }

 private:
  std::string node_, op_, text_;
};

class Parser final : public NotedParser {
 public:
  explicit Parser(NetworkObject& network) : network_(network.answers) {}

  bool parse(void const* bytes, size_t size, char const* path) noexcept override {
    Note("parse", path == nullptr ? "" : std::string_view(path).empty() ? "" : "a path");
    const std::span all(static_cast<const std::byte*>(bytes), size);
    return Take(vernier::OnnxModel::FromBytes(all, nullptr, path == nullptr ? "" : path));
  }
  bool parseFromFile(char const* path, int) noexcept override {
    Note("parseFromFile");
    return Take(vernier::OnnxModel::Open(path));
  }
  int getNbErrors() const noexcept override { return static_cast<int>(errors_.size()); }
  IParserError const* getError(int i) const noexcept override {
    return &errors_[static_cast<size_t>(i)];
  }

 private:
  bool Take(const vernier::Result<vernier::OnnxModel>& model) {
    if (!model.ok()) return false;
    const vernier::OnnxGraph& graph = model->graph();
    for (const vernier::TensorInfo& input : model->RequiredInputs()) {
      TensorObject& tensor = AddTensor(input);
      tensor.answers.is_input = true;
      network_.inputs.push_back(&tensor);
    }
    const std::vector<vernier::TensorInfo> outputs = model->Outputs();
    for (const vernier::OnnxNode& node : graph.nodes) AddLayer(graph, node, outputs);
    for (const vernier::TensorInfo& output : outputs) {
      TensorObject& tensor = *tensors_.at(output.name);
      tensor.answers.is_output = true;
      network_.outputs.push_back(&tensor);
    }
    return errors_.empty();
  }

  TensorObject& AddTensor(const vernier::TensorInfo& info) {
    nvinfer1::Dims dims{};
    std::vector<std::string> symbols;
    for (const vernier::Dim& dim : info.shape.value_or(std::vector<vernier::Dim>())) {
      dims.d[dims.nbDims++] = dim.value;
      symbols.push_back(dim.symbol);
    }
    TensorObject& tensor = network_.Add(info.name, TypeOf(info.dtype), dims);
    tensor.answers.symbols = std::move(symbols);
    return *(tensors_[info.name] = &tensor);
  }

  // Tensors between layers have the shape of what they are made from: nothing is inferred here.
  TensorObject& Between(std::string_view name, const LayerObject& layer) {
    vernier::TensorInfo info{std::string(name), vernier::DType::kFloat32, {}};
    TensorObject& tensor = AddTensor(info);
    if (!layer.answers.inputs.empty()) {
      const TensorObject& from = *layer.answers.inputs.front();
      tensor.setDimensions(from.getDimensions());
      tensor.answers.symbols = from.answers.symbols;
    }
    return tensor;
  }

  void AddLayer(const vernier::OnnxGraph& graph, const vernier::OnnxNode& node,
                const std::vector<vernier::TensorInfo>& outputs) {
    const std::string op_type(node.op_type);
    if (op_type == "Det") errors_.emplace_back(std::string(node.name), op_type);
    LayerObject& layer =
        network_.layers.emplace_back(std::string(node.name), TypeOfNode(op_type), op_type);
    for (const std::string_view name : graph.Inputs(node)) {
      const auto found = tensors_.find(std::string(name));
      if (found == tensors_.end()) continue;  // weights
      // The second input of Expand is a shape.
      if (op_type == "Expand" && !layer.answers.inputs.empty()) {
        found->second->answers.is_shape = true;
      }
      layer.answers.inputs.push_back(found->second);
    }
    for (const std::string_view name : graph.Outputs(node)) {
      const auto known = std::find_if(outputs.begin(), outputs.end(),
                                      [&](const auto& output) { return output.name == name; });
      layer.answers.outputs.push_back(known == outputs.end() ? &Between(name, layer)
                                                             : &AddTensor(*known));
    }
  }

  Network& network_;
  std::map<std::string, TensorObject*> tensors_;
  std::deque<Error> errors_;
};

}  // namespace
}  // namespace trt_standin

extern "C" __attribute__((visibility("default"))) void* createNvOnnxParser_INTERNAL(void* network,
                                                                                    void*, int) {
  using namespace trt_standin;
  auto* definition = static_cast<INetworkDefinition*>(network);
  return static_cast<IParser*>(new Parser(static_cast<NetworkObject&>(*definition)));
}
