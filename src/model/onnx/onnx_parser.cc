#include "model/onnx/onnx_parser.h"

#include <bit>
#include <utility>

namespace vernier {
namespace {

using M = OnnxMessage;

DType KnownDType(int32_t onnx_type) { return DTypeFromOnnx(onnx_type).value_or(DType::kUndefined); }

// Fields of the "last one wins" kind. Returns whether the field was `number`.
bool TakeText(WireReader& reader, uint32_t number, std::string_view& out) {
  if (!reader.Is(number, WireType::kBytes)) return false;
  out = reader.Bytes();
  return true;
}

bool TakeInt(WireReader& reader, uint32_t number, int64_t& out) {
  if (!reader.Is(number, WireType::kVarint)) return false;
  out = reader.Int64();
  return true;
}

bool TakeInt(WireReader& reader, uint32_t number, int32_t& out) {
  if (!reader.Is(number, WireType::kVarint)) return false;
  out = reader.Int32();
  return true;
}

bool IsMessage(const WireReader& reader, uint32_t number) {
  return reader.Is(number, WireType::kBytes);
}

OnnxOpset ParseOpset(WireReader reader) {
  OnnxOpset opset;
  while (reader.Next()) {
    if (TakeText(reader, 1, opset.domain) || TakeInt(reader, 2, opset.version)) continue;
    reader.Skip();
  }
  return opset;
}

OnnxEntry ParseEntry(WireReader reader) {
  OnnxEntry entry;
  while (reader.Next()) {
    if (TakeText(reader, 1, entry.key) || TakeText(reader, 2, entry.value)) continue;
    reader.Skip();
  }
  return entry;
}

OnnxValueKind KindOfTypeField(uint32_t field) {
  switch (field) {
    case 1:
      return OnnxValueKind::kTensor;
    case 4:
      return OnnxValueKind::kSequence;
    case 5:
      return OnnxValueKind::kMap;
    case 7:
      return OnnxValueKind::kOpaque;
    case 8:
      return OnnxValueKind::kSparseTensor;
    case 9:
      return OnnxValueKind::kOptional;
    default:
      return OnnxValueKind::kUntyped;
  }
}

void ParseTensorType(WireReader reader, OnnxValue& value) {
  while (reader.Next()) {
    if (!TakeInt(reader, 1, value.onnx_type)) reader.Skip();
  }
  value.dtype = KnownDType(value.onnx_type);
}

void ParseType(WireReader reader, OnnxValue& value) {
  while (reader.Next()) {
    const OnnxValueKind kind = reader.type() == WireType::kBytes ? KindOfTypeField(reader.field())
                                                                 : OnnxValueKind::kUntyped;
    if (kind == OnnxValueKind::kUntyped) {
      reader.Skip();
      continue;
    }
    if (kind != value.kind) {  // a oneof: the later member replaces the earlier
      value.kind = kind;
      value.onnx_type = 0;
      value.dtype = DType::kUndefined;
    }
    if (kind == OnnxValueKind::kTensor || kind == OnnxValueKind::kSparseTensor) {
      ParseTensorType(reader.Message(M::kTensorType), value);
    } else {
      reader.Skip();
    }
  }
}

OnnxValue ParseValueInfo(WireReader reader) {
  OnnxValue value;
  value.bytes = reader.MessageBytes();
  while (reader.Next()) {
    if (TakeText(reader, 1, value.name)) continue;
    if (IsMessage(reader, 2)) {
      ParseType(reader.Message(M::kType), value);
    } else {
      reader.Skip();
    }
  }
  return value;
}

class Parser {
 public:
  OnnxContents Model(WireReader reader);

 private:
  void Graph(WireReader reader, OnnxGraph& graph);
  void Node(WireReader reader, OnnxGraph& graph);
  void Attribute(WireReader reader, std::vector<OnnxSubgraph>& links);
  std::string_view SparseTensor(WireReader reader);
  OnnxFunction Function(WireReader reader);
  OnnxTensor Tensor(WireReader reader);
  void Remember(const OnnxTensor& tensor);

  OnnxContents contents_;
  // Reused between nodes, so that a node without lists allocates nothing.
  std::vector<std::string_view> outputs_;
};

void Parser::Remember(const OnnxTensor& tensor) {
  if (tensor.external) contents_.external_tensors.push_back(tensor);
}

OnnxTensor Parser::Tensor(WireReader reader) {
  OnnxTensor tensor;
  ParseOnnxTensor(reader, tensor);
  Remember(tensor);
  return tensor;
}

std::string_view Parser::SparseTensor(WireReader reader) {
  OnnxTensor values, indices;
  while (reader.Next()) {
    if (IsMessage(reader, 1)) {
      ParseOnnxTensor(reader.Message(M::kTensor), values);
    } else if (IsMessage(reader, 2)) {
      ParseOnnxTensor(reader.Message(M::kTensor), indices);
    } else {
      reader.Skip();
    }
  }
  Remember(values);
  Remember(indices);
  return values.name;
}

void Parser::Attribute(WireReader reader, std::vector<OnnxSubgraph>& links) {
  std::string_view name;
  const size_t first = links.size();
  std::optional<uint32_t> single;  // `g`, whose parts merge
  std::optional<OnnxTensor> tensor;
  const auto add_graph = [&] {
    contents_.subgraphs.emplace_back();
    links.push_back({{}, static_cast<uint32_t>(contents_.subgraphs.size() - 1)});
    return links.back().graph;
  };
  while (reader.Next()) {
    if (TakeText(reader, 1, name)) continue;
    if (IsMessage(reader, 5)) {
      if (!tensor) tensor.emplace();
      ParseOnnxTensor(reader.Message(M::kTensor), *tensor);
    } else if (IsMessage(reader, 6)) {
      if (!single) single = add_graph();
      Graph(reader.Message(M::kGraph), contents_.subgraphs[*single]);
    } else if (IsMessage(reader, 10)) {
      Tensor(reader.Message(M::kTensor));
    } else if (IsMessage(reader, 11)) {
      const uint32_t index = add_graph();
      Graph(reader.Message(M::kGraph), contents_.subgraphs[index]);
    } else if (IsMessage(reader, 22) || IsMessage(reader, 23)) {
      SparseTensor(reader.Message(M::kSparseTensor));
    } else {
      reader.Skip();
    }
  }
  if (tensor) Remember(*tensor);
  for (size_t i = first; i < links.size(); ++i) links[i].attribute = name;
}

void Parser::Node(WireReader reader, OnnxGraph& graph) {
  OnnxNode node;
  node.bytes = reader.MessageBytes();
  std::vector<OnnxSubgraph> links;
  std::vector<std::string_view> outputs = std::exchange(outputs_, {});
  outputs.clear();
  std::vector<std::string_view>& values = graph.node_values;
  const size_t first = values.size();
  while (reader.Next()) {
    if (IsMessage(reader, 1)) {
      values.push_back(reader.Bytes());
    } else if (IsMessage(reader, 2)) {
      outputs.push_back(reader.Bytes());
    } else if (IsMessage(reader, 5)) {
      Attribute(reader.Message(M::kAttribute), links);
    } else if (!TakeText(reader, 3, node.name) && !TakeText(reader, 4, node.op_type) &&
               !TakeText(reader, 7, node.domain) && !TakeText(reader, 8, node.overload)) {
      reader.Skip();
    }
  }
  node.first_value = static_cast<uint32_t>(first);
  node.input_count = static_cast<uint32_t>(values.size() - first);
  node.output_count = static_cast<uint32_t>(outputs.size());
  values.insert(values.end(), outputs.begin(), outputs.end());
  node.first_subgraph = static_cast<uint32_t>(graph.node_subgraphs.size());
  node.subgraph_count = static_cast<uint32_t>(links.size());
  graph.node_subgraphs.insert(graph.node_subgraphs.end(), links.begin(), links.end());
  graph.nodes.push_back(node);
  outputs_ = std::move(outputs);
}

void Parser::Graph(WireReader reader, OnnxGraph& graph) {
  while (reader.Next()) {
    if (reader.type() != WireType::kBytes) {
      reader.Skip();
      continue;
    }
    switch (reader.field()) {
      case 1:
        Node(reader.Message(M::kNode), graph);
        break;
      case 2:
        graph.name = reader.Bytes();
        break;
      case 10:
        graph.doc_string = reader.Bytes();
        break;
      case 5:
        graph.initializers.push_back(Tensor(reader.Message(M::kTensor)));
        break;
      case 11:
        graph.inputs.push_back(ParseValueInfo(reader.Message(M::kValueInfo)));
        break;
      case 12:
        graph.outputs.push_back(ParseValueInfo(reader.Message(M::kValueInfo)));
        break;
      case 13:
        graph.value_info.push_back(ParseValueInfo(reader.Message(M::kValueInfo)));
        break;
      case 15:
        graph.sparse_initializers.push_back(SparseTensor(reader.Message(M::kSparseTensor)));
        break;
      case 14:
        ++graph.quantization_annotations;
        [[fallthrough]];
      default:
        reader.Skip();
    }
  }
}

OnnxFunction Parser::Function(WireReader reader) {
  OnnxFunction function;
  std::vector<OnnxSubgraph> ignored;
  while (reader.Next()) {
    if (IsMessage(reader, 4)) {
      function.inputs.push_back(reader.Bytes());
    } else if (IsMessage(reader, 5)) {
      function.outputs.push_back(reader.Bytes());
    } else if (IsMessage(reader, 6)) {
      function.attributes.push_back(reader.Bytes());
    } else if (IsMessage(reader, 7)) {
      Node(reader.Message(M::kNode), function.body);
    } else if (IsMessage(reader, 9)) {
      function.opsets.push_back(ParseOpset(reader.Message(M::kOperatorSet)));
    } else if (IsMessage(reader, 11)) {
      Attribute(reader.Message(M::kAttribute), ignored);
    } else if (IsMessage(reader, 12)) {
      function.body.value_info.push_back(ParseValueInfo(reader.Message(M::kValueInfo)));
    } else if (!TakeText(reader, 1, function.name) && !TakeText(reader, 10, function.domain) &&
               !TakeText(reader, 13, function.overload)) {
      reader.Skip();
    }
  }
  return function;
}

OnnxContents Parser::Model(WireReader reader) {
  OnnxContents& model = contents_;
  while (reader.Next()) {
    if (IsMessage(reader, 7)) {
      ++model.graph_parts;
      Graph(reader.Message(M::kGraph), model.graph);
    } else if (IsMessage(reader, 8)) {
      model.opsets.push_back(ParseOpset(reader.Message(M::kOperatorSet)));
    } else if (IsMessage(reader, 14)) {
      model.metadata.push_back(ParseEntry(reader.Message(M::kEntry)));
    } else if (IsMessage(reader, 25)) {
      model.functions.push_back(Function(reader.Message(M::kFunction)));
    } else if (!TakeInt(reader, 1, model.ir_version) && !TakeText(reader, 2, model.producer_name) &&
               !TakeText(reader, 3, model.producer_version) && !TakeText(reader, 4, model.domain) &&
               !TakeInt(reader, 5, model.model_version) && !TakeText(reader, 6, model.doc_string)) {
      reader.Skip();
    }
  }
  return std::move(contents_);
}

void TakeExternalEntry(const OnnxEntry& entry, OnnxTensor& tensor) {
  if (entry.key == "location") tensor.location = entry.value;
  if (entry.key == "offset") tensor.offset = entry.value;
  if (entry.key == "length") tensor.length = entry.value;
}

OnnxAttribute ParseAttribute(WireReader reader) {
  OnnxAttribute attribute;
  while (reader.Next()) {
    if (reader.Is(2, WireType::kFixed32)) {
      attribute.f = std::bit_cast<float>(reader.Fixed32());
    } else if (IsMessage(reader, 5)) {
      if (!attribute.tensor) attribute.tensor.emplace();
      ParseOnnxTensor(reader.Message(M::kTensor), *attribute.tensor);
    } else if (reader.field() == 7) {
      reader.AppendFloats(attribute.floats);
    } else if (reader.field() == 8) {
      reader.AppendInts(attribute.ints);
    } else if (IsMessage(reader, 9)) {
      attribute.strings.push_back(reader.Bytes());
    } else if (!TakeText(reader, 1, attribute.name) && !TakeInt(reader, 3, attribute.i) &&
               !TakeText(reader, 4, attribute.s) && !TakeInt(reader, 20, attribute.type) &&
               !TakeText(reader, 21, attribute.reference)) {
      reader.Skip();
    }
  }
  return attribute;
}

}  // namespace

OnnxContents ParseOnnxModel(WireReader reader) { return Parser().Model(reader); }

void ParseOnnxTensor(WireReader reader, OnnxTensor& tensor) {
  tensor.split = tensor.bytes.data() != nullptr;
  tensor.bytes = reader.MessageBytes();
  int32_t data_location = tensor.external ? 1 : 0;
  while (reader.Next()) {
    if (reader.field() == 1) {
      reader.AppendInts(tensor.dims);
    } else if (IsMessage(reader, 13)) {
      TakeExternalEntry(ParseEntry(reader.Message(M::kEntry)), tensor);
    } else if (!TakeInt(reader, 2, tensor.onnx_type) && !TakeText(reader, 8, tensor.name) &&
               !TakeText(reader, 9, tensor.raw_data) && !TakeInt(reader, 14, data_location)) {
      reader.Skip();
    }
  }
  tensor.external = data_location == 1;
  tensor.dtype = KnownDType(tensor.onnx_type);
}

std::vector<OnnxAttribute> ParseOnnxAttributes(std::string_view node_bytes) {
  std::vector<OnnxAttribute> attributes;
  WireSource source(node_bytes);
  WireReader reader(source, M::kNode, node_bytes);
  while (reader.Next()) {
    if (IsMessage(reader, 5)) {
      attributes.push_back(ParseAttribute(reader.Message(M::kAttribute)));
    } else {
      reader.Skip();
    }
  }
  return attributes;
}

}  // namespace vernier
