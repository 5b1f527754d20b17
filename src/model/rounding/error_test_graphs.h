// Hand-made graphs, and what the error model says of them, for the tests of this folder.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/onnx/onnx_test_model.h"
#include "model/rounding/error_model.h"
#include "model/rounding/passed_on.h"

namespace vernier::testing_model {

inline constexpr RunnerArithmetic kAsInModel{};
inline constexpr RunnerArithmetic kInBFloat16{DType::kBFloat16, false};
inline constexpr int32_t kFloat = 1, kUint8 = 2, kInt64 = 7, kBool = 9, kFloat16 = 10;

inline std::string Dimension(int64_t size) {
  return Field(1, Number(1, static_cast<uint64_t>(size)));
}

inline std::string Input(std::string_view name, const Dims& dims, int32_t type = kFloat) {
  std::string shape;
  for (const int64_t size : dims) shape += Dimension(size);
  const std::string tensor = Number(1, static_cast<uint64_t>(type)) + Field(2, shape);
  return Field(11, Field(1, name) + Field(2, Field(1, tensor)));
}

// An initializer without values: the model never reads weights.
inline std::string Weight(std::string_view name, const Dims& dims, int32_t type = kFloat) {
  std::string tensor;
  for (const int64_t size : dims) tensor += Number(1, static_cast<uint64_t>(size));
  return Field(5, tensor + Number(2, static_cast<uint64_t>(type)) + Field(8, name));
}

inline std::string Attribute(std::string_view name, uint64_t value) {
  return Field(5, Field(1, name) + Number(3, value) + Number(20, 2));
}

inline std::string Do(std::string_view op, std::initializer_list<std::string_view> inputs,
                      std::string_view output, std::string_view more = {}) {
  return Field(1, Node(op, inputs, {output}, more));
}

inline ErrorPredictions Predict(const std::string& graph, RunnerArithmetic second = kAsInModel,
                                std::vector<InputDims> fed = {}) {
  const OnnxModel model = *Parse(Model(graph));
  return *PredictErrors(model, fed, kAsInModel, second);
}

inline std::string Linear(int64_t k) {
  return Input("x", {4, k}) + Weight("w", {k, 8}) + Do("MatMul", {"x", "w"}, "y");
}

struct SeenTensor {
  std::string name;
  std::vector<float> elements;
  Dims dims = {};  // none: one row
};

inline Tensor SeenValues(const std::vector<float>& elements, const Dims& dims) {
  TensorBuffer buffer = *TensorBuffer::Allocate(DType::kFloat32, dims);
  std::copy(elements.begin(), elements.end(), buffer.As<float>().begin());
  return std::move(buffer).Freeze();
}

// Of values that the reference has made.
inline ErrorPredictions PredictFromValues(const std::string& graph,
                                          const std::vector<SeenTensor>& values) {
  TensorMap tensors;
  for (const auto& [name, elements, dims] : values) {
    const Dims row = {1, 1, static_cast<int64_t>(elements.size())};
    tensors.push_back({name, SeenValues(elements, dims.empty() ? row : dims)});
  }
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  const OnnxModel model = *Parse(Model(graph));
  return *PredictErrors(model, {}, kAsInModel, kAsInModel, {}, FedInputs::kSame, seen);
}

// By how much larger the error of a tensor is than that of y.
inline double RatioSeen(const std::string& graph, const std::string& name,
                        const std::vector<SeenTensor>& values) {
  const ErrorPredictions seen = PredictFromValues(graph, values);
  return seen.at(name).rms / seen.at("y").rms;
}

// A weight with values, as raw data.
inline std::string WeightOf(std::string_view name, const Dims& dims,
                            const std::vector<float>& values) {
  std::string tensor;
  for (const int64_t size : dims) tensor += Number(1, static_cast<uint64_t>(size));
  const std::string_view raw(reinterpret_cast<const char*>(values.data()),
                             values.size() * sizeof(float));
  return Field(5, tensor + Number(2, kFloat) + Field(8, name) + Field(9, raw));
}

// An attribute of one whole number in a list.
inline std::string Ints(std::string_view name, uint64_t value) {
  return Field(5, Field(1, name) + Number(8, value) + Number(20, 7));
}

// What a node makes of these values of x on both sides.
inline std::optional<PassedOn> Passed(const std::string& made, const std::vector<float>& of_a,
                                      const std::vector<float>& of_b, const Dims& dims = {2, 3},
                                      size_t output = 0) {
  const Tensor a = SeenValues(of_a, dims), b = SeenValues(of_b, dims);
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return name == "x" ? &a : nullptr; };
  seen.others = [&](std::string_view name) { return name == "x" ? &b : nullptr; };
  const OnnxModel model = *Parse(Model(Do("Relu", {"in"}, "x") + made));
  PassedDifferences passed(model, seen, {});
  return passed.Of(model.graph().nodes.back(), output, DType::kFloat32, {});
}

}  // namespace vernier::testing_model
