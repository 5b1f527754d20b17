// A network as the stand-in's parser makes it: tensors and layers that remember what they were
// told.
#pragma once

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "standin_classes.h"

namespace trt_standin {

/// An interface object around what answers for it.
template <typename Interface, typename Answers>
class Object final : public Interface {
 public:
  template <typename... Arguments>
  explicit Object(Arguments&&... arguments) : answers(std::forward<Arguments>(arguments)...) {
    if constexpr (requires { this->mLayer; }) {
      this->mLayer = &answers;
    } else {
      this->mImpl = &answers;
    }
  }
  Answers answers;
};

class Tensor final : public NotedTensor {
 public:
  Tensor(const std::string& name, DataType type, const Dims& dims) {
    Call(name);
    Keep("Name()", name.c_str());
    Keep("Type()", type);
    Keep("Dimensions()", dims);
  }

  std::vector<std::string> symbols;  ///< the names of its dimensions, empty where there is none
  bool is_input = false, is_output = false, is_shape = false, is_debug = false;

  bool isNetworkInput() const noexcept override { return is_input; }
  bool isNetworkOutput() const noexcept override { return is_output; }
  bool isShapeTensor() const noexcept override { return is_shape; }
  bool isExecutionTensor() const noexcept override { return !is_shape; }
};
using TensorObject = Object<ITensor, Tensor>;

class Layer final : public NotedLayer {
 public:
  Layer(const std::string& name, LayerType type, std::string op_type)
      : op_type(std::move(op_type)), type_(type) {
    Call(name);
    Keep("Name()", name.c_str());
  }

  const std::string op_type;
  std::vector<TensorObject*> inputs, outputs;

  LayerType getType() const noexcept override { return type_; }
  int32_t getNbInputs() const noexcept override { return static_cast<int32_t>(inputs.size()); }
  int32_t getNbOutputs() const noexcept override { return static_cast<int32_t>(outputs.size()); }
  ITensor* getInput(int32_t i) const noexcept override { return inputs[static_cast<size_t>(i)]; }
  ITensor* getOutput(int32_t i) const noexcept override { return outputs[static_cast<size_t>(i)]; }
  bool precisionIsSet() const noexcept override { return Has("Precision()"); }

 private:
  LayerType type_;
};
using LayerObject = Object<ILayer, Layer>;

class Network final : public NotedNetworkDefinition {
 public:
  std::deque<TensorObject> tensors;
  std::deque<LayerObject> layers;
  std::vector<TensorObject*> inputs, outputs;

  TensorObject& Add(const std::string& name, DataType type, const Dims& dims) {
    return tensors.emplace_back(name, type, dims);
  }

  int32_t getNbLayers() const noexcept override { return static_cast<int32_t>(layers.size()); }
  ILayer* getLayer(int32_t i) const noexcept override {
    return const_cast<LayerObject*>(&layers[static_cast<size_t>(i)]);
  }
  int32_t getNbInputs() const noexcept override { return static_cast<int32_t>(inputs.size()); }
  int32_t getNbOutputs() const noexcept override { return static_cast<int32_t>(outputs.size()); }
  ITensor* getInput(int32_t i) const noexcept override { return inputs[static_cast<size_t>(i)]; }
  ITensor* getOutput(int32_t i) const noexcept override { return outputs[static_cast<size_t>(i)]; }

  void markOutput(ITensor& tensor) noexcept override {
    Note("markOutput", tensor);
    auto& object = static_cast<TensorObject&>(tensor);
    object.answers.is_output = true;
    outputs.push_back(&object);
  }
  void unmarkOutput(ITensor& tensor) noexcept override {
    Note("unmarkOutput", tensor);
    auto& object = static_cast<TensorObject&>(tensor);
    object.answers.is_output = false;
    std::erase(outputs, &object);
  }
  bool markDebug(ITensor& tensor) noexcept override {
    Note("markDebug", tensor);
    return static_cast<TensorObject&>(tensor).answers.is_debug = true;
  }
  bool markUnfusedTensorsAsDebugTensors() noexcept override {
    Note("markUnfusedTensorsAsDebugTensors");
    return true;
  }
};
using NetworkObject = Object<INetworkDefinition, Network>;

class Memory final : public NotedHostMemory {
 public:
  explicit Memory(std::string bytes) : bytes_(std::move(bytes)) {}
  void* data() const noexcept override { return const_cast<char*>(bytes_.data()); }
  size_t size() const noexcept override { return bytes_.size(); }

 private:
  std::string bytes_;
};
using MemoryObject = Object<IHostMemory, Memory>;

/// $VERNIER_TRT_STANDIN has "NAME" or "NAME=VALUE" among its words: the value, "1" without one.
std::string Behaviour(std::string_view name);

/// What TensorRT tells by its logger.
void Complain(ILogger* logger, const std::string& text);

}  // namespace trt_standin
