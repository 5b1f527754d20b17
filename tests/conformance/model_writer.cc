#include "model_writer.h"

#include <utility>

namespace vernier {
namespace {

// Protocol buffers, as far as such a model needs them: field numbers are those of onnx.proto.
class Message {
 public:
  Message& Number(int field, uint64_t value) {
    Varint(static_cast<uint64_t>(field) << 3);
    Varint(value);
    return *this;
  }
  Message& Text(int field, const std::string& text) {
    Varint(static_cast<uint64_t>(field) << 3 | 2);
    Varint(text.size());
    bytes_ += text;
    return *this;
  }
  Message& Sub(int field, const Message& message) { return Text(field, message.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value) {
    for (; value > 0x7f; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

Message WriteType(const TensorInfo& info) {
  Message tensor;
  tensor.Number(1, static_cast<uint64_t>(info.dtype));
  if (info.shape) {
    Message shape;
    for (const Dim& dim : *info.shape) {
      Message written;
      if (!dim.dynamic()) written.Number(1, static_cast<uint64_t>(dim.value));
      if (dim.dynamic() && !dim.symbol.empty()) written.Text(2, dim.symbol);
      shape.Sub(1, written);
    }
    tensor.Sub(2, shape);
  }
  return Message().Sub(1, tensor);
}

Message WriteValue(const std::string& name, const TensorInfo& info) {
  return Message().Text(1, name).Sub(2, WriteType(info));
}

// The version that first has Identity for the type. Newer ones are asked for only where they are
// needed, so that an older framework can run the rest.
struct Versions {
  uint64_t ir, opset;
};

Versions VersionsFor(const std::vector<TensorInfo>& inputs) {
  Versions versions{8, 17};
  for (const TensorInfo& input : inputs) {
    const bool float8 =
        input.dtype >= DType::kFloat8E4M3FN && input.dtype <= DType::kFloat8E5M2FNUZ;
    if (float8 && versions.opset < 19) versions = {9, 19};
    if ((input.dtype == DType::kInt4 || input.dtype == DType::kUint4) && versions.opset < 21) {
      versions = {10, 21};
    }
    if (input.dtype == DType::kFloat4E2M1) versions = {11, 23};
  }
  return versions;
}

// tensorflow/core/framework/types.proto; 0 for a type that is not there.
uint64_t TensorFlowType(DType dtype) {
  constexpr std::pair<DType, uint64_t> kTypes[] = {
      {DType::kFloat32, 1},         {DType::kFloat64, 2},         {DType::kInt32, 3},
      {DType::kUint8, 4},           {DType::kInt16, 5},           {DType::kInt8, 6},
      {DType::kString, 7},          {DType::kComplex64, 8},       {DType::kInt64, 9},
      {DType::kBool, 10},           {DType::kBFloat16, 14},       {DType::kUint16, 17},
      {DType::kComplex128, 18},     {DType::kFloat16, 19},        {DType::kUint32, 22},
      {DType::kUint64, 23},         {DType::kFloat8E5M2, 24},     {DType::kFloat8E4M3FN, 25},
      {DType::kFloat8E4M3FNUZ, 26}, {DType::kFloat8E5M2FNUZ, 28}, {DType::kInt4, 29},
      {DType::kUint4, 30},          {DType::kFloat4E2M1, 33}};
  for (const auto& [candidate, number] : kTypes) {
    if (candidate == dtype) return number;
  }
  return 0;
}

// An entry of NodeDef.attr with an AttrValue.
Message WriteAttribute(const std::string& key, const Message& value) {
  return Message().Text(1, key).Sub(2, value);
}

Message WriteGraphShape(const TensorInfo& info) {
  Message shape;
  if (!info.shape) return shape.Number(3, 1);
  for (const Dim& dim : *info.shape) {
    const int64_t size = dim.dynamic() ? -1 : dim.value;
    shape.Sub(2, Message().Number(1, static_cast<uint64_t>(size)));
  }
  return shape;
}

}  // namespace

std::string WriteIdentityGraphDef(const std::vector<TensorInfo>& inputs) {
  Message graph;
  graph.Sub(4, Message().Number(1, 1087));  // VersionDef.producer
  for (const TensorInfo& input : inputs) {
    const Message type = Message().Number(6, TensorFlowType(input.dtype));
    graph.Sub(1, Message()
                     .Text(1, input.name)
                     .Text(2, "Placeholder")
                     .Sub(5, WriteAttribute("dtype", type))
                     .Sub(5, WriteAttribute("shape", Message().Sub(7, WriteGraphShape(input)))));
  }
  for (const TensorInfo& input : inputs) {
    const Message type = Message().Number(6, TensorFlowType(input.dtype));
    graph.Sub(1, Message()
                     .Text(1, OutputName(input.name))
                     .Text(2, "Identity")
                     .Text(3, input.name)
                     .Sub(5, WriteAttribute("T", type)));
  }
  return graph.bytes();
}

std::string OutputName(const std::string& input) { return input + "_out"; }

std::string WriteIdentityModel(const std::vector<TensorInfo>& inputs) {
  Message graph;
  for (const TensorInfo& input : inputs) {
    graph.Sub(1, Message().Text(1, input.name).Text(2, OutputName(input.name)).Text(4, "Identity"));
  }
  graph.Text(2, "conformance");
  for (const TensorInfo& input : inputs) graph.Sub(11, WriteValue(input.name, input));
  for (const TensorInfo& input : inputs) {
    graph.Sub(12, WriteValue(OutputName(input.name), input));
  }
  const Versions versions = VersionsFor(inputs);
  return Message()
      .Number(1, versions.ir)
      .Sub(8, Message().Text(1, "").Number(2, versions.opset))
      .Sub(7, graph)
      .bytes();
}

}  // namespace vernier
