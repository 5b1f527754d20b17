// Hand-made ONNX bytes for the tests of this folder.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "model/onnx/wire_reader.h"

namespace vernier::testing_model {

inline std::string Field(uint32_t number, std::string_view bytes) {
  std::string out;
  AppendBytesField(out, number, bytes);
  return out;
}

inline std::string Number(uint32_t number, uint64_t value) {
  std::string out;
  AppendVarintField(out, number, value);
  return out;
}

/// A NodeProto.
inline std::string Node(std::string_view op_type, std::initializer_list<std::string_view> inputs,
                        std::initializer_list<std::string_view> outputs,
                        std::string_view more = {}) {
  std::string node;
  for (const std::string_view input : inputs) node += Field(1, input);
  for (const std::string_view output : outputs) node += Field(2, output);
  return node + Field(4, op_type) + std::string(more);
}

/// A ValueInfoProto of a float tensor of shape ("N", 3).
inline std::string Value(std::string_view name) {
  const std::string shape = Field(1, Field(2, "N")) + Field(1, Number(1, 3));
  return Field(1, name) + Field(2, Field(1, Number(1, 1) + Field(2, shape)));
}

/// A TensorProto of float that names external data.
inline std::string ExternalTensor(std::string_view name, uint64_t size, std::string_view location,
                                  std::string_view offset, std::string_view length) {
  const auto entry = [](std::string_view key, std::string_view value) {
    return Field(13, Field(1, key) + Field(2, value));
  };
  std::string tensor = Number(1, size) + Number(2, 1) + Field(8, name);
  tensor += entry("location", location);
  if (!offset.empty()) tensor += entry("offset", offset);
  if (!length.empty()) tensor += entry("length", length);
  return tensor + Number(14, 1);
}

/// A ModelProto with version fields around a GraphProto.
inline std::string Model(std::string_view graph) {
  return Number(1, 8) + Field(7, graph) + Field(8, Number(2, 17));
}

inline Result<OnnxModel> Parse(std::string bytes, std::string path = "m.onnx") {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return OnnxModel::FromBytes(std::as_bytes(std::span(owner->data(), owner->size())), owner,
                              std::move(path));
}

/// The model of a graph, as those take it who keep a model.
inline std::shared_ptr<const OnnxModel> Shared(std::string_view graph) {
  return std::make_shared<const OnnxModel>(*Parse(Model(graph)));
}

}  // namespace vernier::testing_model
