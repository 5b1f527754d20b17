#include "report/models/model_json.h"

#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "compare/functions/comparator.h"
#include "io/bytes/byte_sink.h"

namespace vernier {
namespace {

void WriteNumber(double value, JsonWriter& writer) {
  if (std::isnan(value)) return writer.String("nan");
  if (std::isinf(value)) return writer.String(value > 0 ? "inf" : "-inf");
  writer.Double(value);
}

// An integer as it is: a double may round it. Else `value`, which is the element as a double.
void WriteElement(const Tensor& tensor, int64_t place, double value, JsonWriter& writer) {
  int64_t scratch;
  uint64_t unsigned_scratch;
  switch (NaturalArithmetic(tensor.dtype())) {
    case Arithmetic::kInt64:
      return writer.Integer(*LoadBlock(Elements(tensor), place, 1, &scratch));
    case Arithmetic::kUint64:
      return writer.Fail(writer.BeginRaw().WriteText(
          std::to_string(*LoadBlock(Elements(tensor), place, 1, &unsigned_scratch))));
    default:
      return WriteNumber(value, writer);
  }
}

void WriteModelText(std::string_view key, std::string_view text, JsonWriter& writer) {
  writer.Key(key);
  writer.String(text);
}

void WriteDims(std::span<const int64_t> dims, JsonWriter& writer) {
  writer.Key("shape");
  writer.BeginArray();
  for (const int64_t dim : dims) writer.Integer(dim);
  writer.EndArray();
}

// A size that is open is its symbol, or null.
void WriteShape(const std::optional<std::vector<Dim>>& shape, JsonWriter& writer) {
  writer.Key("shape");
  if (!shape) return writer.Null();
  writer.BeginArray();
  for (const Dim& dim : *shape) {
    if (!dim.dynamic()) {
      writer.Integer(dim.value);
    } else if (dim.symbol.empty()) {
      writer.Null();
    } else {
      writer.String(dim.symbol);
    }
  }
  writer.EndArray();
}

void WriteNames(std::string_view key, std::span<const std::string_view> names, JsonWriter& writer) {
  writer.Key(key);
  writer.BeginArray();
  for (const std::string_view name : names) writer.String(name);
  writer.EndArray();
}

class ModelWriter {
 public:
  ModelWriter(const OnnxModel& model, bool attributes, JsonWriter& writer)
      : model_(model), attributes_(attributes), writer_(writer) {}

  void Write(const std::vector<std::string_view>* unbounded) {
    writer_.BeginObject();
    WriteModelText("model", model_.path(), writer_);
    writer_.Key("ir_version");
    writer_.Integer(model_.contents().ir_version);
    writer_.Key("opsets");
    writer_.BeginObject();
    for (const OnnxOpset& opset : model_.contents().opsets) {
      writer_.Key(opset.domain.empty() ? "ai.onnx" : opset.domain);
      writer_.Integer(opset.version);
    }
    writer_.EndObject();
    if (unbounded != nullptr) WriteNames("unbounded_dds", *unbounded, writer_);
    writer_.Key("graph");
    Graph(model_.graph());
    writer_.EndObject();
  }

 private:
  void Graph(const OnnxGraph& graph) {
    writer_.BeginObject();
    WriteModelText("name", graph.name, writer_);
    Values("inputs", graph.inputs);
    Values("outputs", graph.outputs);
    writer_.Key("initializers");
    writer_.BeginArray();
    for (const OnnxTensor& tensor : graph.initializers) Initializer(tensor);
    writer_.EndArray();
    writer_.Key("nodes");
    writer_.BeginArray();
    for (const OnnxNode& node : graph.nodes) Node(graph, node);
    writer_.EndArray();
    writer_.EndObject();
  }

  void Values(std::string_view key, const std::vector<OnnxValue>& values) {
    writer_.Key(key);
    writer_.BeginArray();
    for (const OnnxValue& value : values) {
      const TensorInfo info = ToTensorInfo(value);
      writer_.BeginObject();
      WriteModelText("name", value.name, writer_);
      if (value.kind != OnnxValueKind::kTensor) {
        WriteModelText("kind", OnnxValueKindName(value.kind), writer_);
      }
      WriteModelText("dtype", DTypeName(info.dtype), writer_);
      WriteShape(info.shape, writer_);
      writer_.EndObject();
    }
    writer_.EndArray();
  }

  void Initializer(const OnnxTensor& tensor) {
    writer_.BeginObject();
    WriteModelText("name", tensor.name, writer_);
    TypeAndDims(tensor);
    if (tensor.external) WriteModelText("external", tensor.location, writer_);
    writer_.EndObject();
  }

  void TypeAndDims(const OnnxTensor& tensor) {
    WriteModelText("dtype", DTypeName(tensor.dtype), writer_);
    WriteDims(tensor.dims, writer_);
  }

  void Node(const OnnxGraph& graph, const OnnxNode& node) {
    writer_.BeginObject();
    WriteModelText("name", node.name, writer_);
    WriteModelText("op", node.op_type, writer_);
    if (!node.domain.empty()) WriteModelText("domain", node.domain, writer_);
    WriteNames("inputs", graph.Inputs(node), writer_);
    WriteNames("outputs", graph.Outputs(node), writer_);
    if (attributes_) Attributes(node);
    if (node.subgraph_count > 0) {
      writer_.Key("graphs");
      writer_.BeginObject();
      for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
        writer_.Key(link.attribute);
        Graph(model_.Subgraph(link));
      }
      writer_.EndObject();
    }
    writer_.EndObject();
  }

  void Attributes(const OnnxNode& node) {
    writer_.Key("attributes");
    writer_.BeginObject();
    for (const OnnxAttribute& attribute : model_.Attributes(node)) {
      const bool body = attribute.type == kGraph || attribute.type == kGraphs;
      if (body) continue;
      writer_.Key(attribute.name);
      Attribute(attribute);
    }
    writer_.EndObject();
  }

  // The types of AttributeProto.
  enum : int {
    kFloat = 1,
    kInt,
    kText,
    kTensor,
    kGraph,
    kFloats,
    kInts,
    kTexts,
    kTensors,
    kGraphs
  };

  template <typename T, typename Write>
  void List(const std::vector<T>& values, const Write& write) {
    writer_.BeginArray();
    for (const T& value : values) write(value);
    writer_.EndArray();
  }

  void Attribute(const OnnxAttribute& attribute) {
    const auto number = [&](float value) { WriteNumber(static_cast<double>(value), writer_); };
    const auto integer = [&](int64_t value) { writer_.Integer(value); };
    const auto text = [&](std::string_view value) { writer_.String(value); };
    switch (attribute.type) {
      case kFloat:
        return number(attribute.f);
      case kInt:
        return integer(attribute.i);
      case kText:
        return text(attribute.s);
      case kFloats:
        return List(attribute.floats, number);
      case kInts:
        return List(attribute.ints, integer);
      case kTexts:
        return List(attribute.strings, text);
      case kTensor:
        if (!attribute.tensor) return writer_.Null();
        writer_.BeginObject();
        TypeAndDims(*attribute.tensor);
        return writer_.EndObject();
      default:
        return writer_.Null();
    }
  }

  const OnnxModel& model_;
  bool attributes_;
  JsonWriter& writer_;
};

}  // namespace

std::string FormatModelJson(const OnnxModel& model, bool attributes,
                            const std::vector<std::string_view>* unbounded) {
  StringSink sink;
  JsonWriter writer(sink);
  ModelWriter(model, attributes, writer).Write(unbounded);
  (void)writer.Finish();  // a string takes everything
  return sink.text();
}

void WriteTensorsJson(const TensorMap& tensors, JsonWriter& writer) {
  writer.BeginArray();
  for (const NamedTensor& named : tensors) {
    writer.BeginObject();
    WriteModelText("name", named.name, writer);
    WriteModelText("dtype", DTypeName(named.tensor.dtype()), writer);
    WriteDims(named.tensor.dims(), writer);
    if (named.tensor.dtype() != DType::kString && named.tensor.element_count() > 0) {
      const ValueStatistics values = DescribeOutput(named.name, named.tensor, false).statistics;
      struct Figure {
        std::string_view name;
        double value;
      };
      for (const Figure& figure :
           {Figure{"mean", values.mean}, Figure{"std_dev", values.std_dev},
            Figure{"variance", values.variance}, Figure{"median", values.median},
            Figure{"avg_magnitude", values.average_magnitude}}) {
        writer.Key(figure.name);
        WriteNumber(figure.value, writer);
      }
      writer.Key("min");
      WriteElement(named.tensor, values.argmin, values.min, writer);
      writer.Key("max");
      WriteElement(named.tensor, values.argmax, values.max, writer);
      writer.Key("nan_count");
      writer.Integer(values.nan_count);
      writer.Key("infinite_count");
      writer.Integer(values.infinite_count);
    }
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace vernier
