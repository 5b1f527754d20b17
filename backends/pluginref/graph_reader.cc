#include "graph_reader.h"

#include "message_reader.h"
#include "tensor_reader.h"

namespace vernier::pluginref {
namespace {

// Field numbers of onnx.proto (IR version 13).
enum ModelField { kModelGraph = 7, kModelOpset = 8 };
enum OpsetField { kOpsetDomain = 1, kOpsetVersion = 2 };
enum GraphField { kGraphNode = 1, kGraphInitializer = 5, kGraphInput = 11, kGraphOutput = 12 };
enum NodeField {
  kNodeInput = 1,
  kNodeOutput = 2,
  kNodeName = 3,
  kNodeOp = 4,
  kNodeAttribute = 5,
  kNodeDomain = 7
};
enum AttributeField {
  kAttributeName = 1,
  kAttributeF = 2,
  kAttributeI = 3,
  kAttributeS = 4,
  kAttributeT = 5,
  kAttributeFloats = 7,
  kAttributeInts = 8,
  kAttributeType = 20
};

Result<Attribute> ReadAttribute(MessageReader in, const std::string& folder, std::string& name) {
  Attribute attribute;
  std::vector<float> floats;
  while (in.Next()) {
    switch (in.field()) {
      case kAttributeName:
        name = in.Text();
        break;
      case kAttributeF:
        attribute.number = static_cast<double>(in.Float());
        break;
      case kAttributeI:
        attribute.integer = in.Integer();
        break;
      case kAttributeS:
        attribute.text = in.Text();
        break;
      case kAttributeT: {
        VERNIER_ASSIGN_OR_RETURN(attribute.tensor, ReadTensor(ReadParts(in.Message()), folder));
        break;
      }
      case kAttributeFloats:
        in.AppendFloats(floats);
        break;
      case kAttributeInts:
        in.AppendIntegers(attribute.integers);
        break;
      case kAttributeType:
        attribute.type = static_cast<int>(in.Integer());
        break;
      default:
        in.Skip();
    }
  }
  attribute.numbers.assign(floats.begin(), floats.end());
  return attribute;
}

Result<Node> ReadNode(MessageReader in, const std::string& folder) {
  Node node;
  while (in.Next()) {
    switch (in.field()) {
      case kNodeInput:
        node.inputs.push_back(in.Text());
        break;
      case kNodeOutput:
        node.outputs.push_back(in.Text());
        break;
      case kNodeName:
        node.name = in.Text();
        break;
      case kNodeOp:
        node.op = in.Text();
        break;
      case kNodeDomain:
        node.domain = in.Text();
        break;
      case kNodeAttribute: {
        std::string name;
        VERNIER_ASSIGN_OR_RETURN(Attribute attribute, ReadAttribute(in.Message(), folder, name));
        node.attributes[name] = std::move(attribute);
        break;
      }
      default:
        in.Skip();
    }
  }
  return node;
}

int64_t ReadDim(MessageReader in) {
  int64_t size = -1;
  while (in.Next()) {
    if (in.field() == 1) {
      size = in.Integer();
    } else {
      in.Skip();
    }
  }
  return size < 0 ? -1 : size;
}

Dims ReadShape(MessageReader in) {
  Dims dims;
  while (in.Next()) {
    if (in.field() == 1) {
      dims.push_back(ReadDim(in.Message()));
    } else {
      in.Skip();
    }
  }
  return dims;
}

void ReadTensorType(MessageReader in, Value& value) {
  while (in.Next()) {
    if (in.field() == 1) {
      value.dtype = DTypeFromOnnx(in.Integer()).value_or(DType::kUndefined);
    } else if (in.field() == 2) {
      value.dims = ReadShape(in.Message());
    } else {
      in.Skip();
    }
  }
}

Value ReadValue(MessageReader in) {
  Value value;
  while (in.Next()) {
    if (in.field() == 1) {
      value.name = in.Text();
    } else if (in.field() == 2) {
      MessageReader type = in.Message();
      while (type.Next()) {
        if (type.field() == 1) {
          ReadTensorType(type.Message(), value);
        } else {
          type.Skip();
        }
      }
    } else {
      in.Skip();
    }
  }
  return value;
}

Status ReadGraphProto(MessageReader in, const std::string& folder, Graph& graph) {
  while (in.Next()) {
    switch (in.field()) {
      case kGraphNode: {
        VERNIER_ASSIGN_OR_RETURN(Node node, ReadNode(in.Message(), folder));
        graph.nodes.push_back(std::move(node));
        break;
      }
      case kGraphInitializer: {
        const TensorParts parts = ReadParts(in.Message());
        VERNIER_ASSIGN_OR_RETURN(Array array, ReadTensor(parts, folder));
        graph.constants[parts.name] = std::move(array);
        break;
      }
      case kGraphInput:
        graph.inputs.push_back(ReadValue(in.Message()));
        break;
      case kGraphOutput:
        graph.outputs.push_back(ReadValue(in.Message()));
        break;
      default:
        in.Skip();
    }
  }
  std::erase_if(graph.inputs, [&](const Value& v) { return graph.constants.contains(v.name); });
  return {};
}

void ReadOpset(MessageReader in, Graph& graph) {
  std::string domain;
  int64_t version = 0;
  while (in.Next()) {
    if (in.field() == kOpsetDomain) {
      domain = in.Text();
    } else if (in.field() == kOpsetVersion) {
      version = in.Integer();
    } else {
      in.Skip();
    }
  }
  if (domain.empty() || domain == "ai.onnx") graph.opset = version;
}

}  // namespace

std::string Node::Title() const {
  std::string shown = name;
  if (shown.empty()) shown = outputs.empty() ? "without a name" : "of '" + outputs.front() + "'";
  return "node '" + shown + "' (" + op + ")";
}

Result<Graph> ReadGraph(std::string_view bytes, const std::string& folder) {
  Graph graph;
  bool found = false;
  try {
    MessageReader in(bytes);
    while (in.Next()) {
      if (in.field() == kModelGraph) {
        VERNIER_TRY(ReadGraphProto(in.Message(), folder, graph));
        found = true;
      } else if (in.field() == kModelOpset) {
        ReadOpset(in.Message(), graph);
      } else {
        in.Skip();
      }
    }
  } catch (const protozero::exception& error) {
    return Malformed(std::string("this is not an ONNX model, or a damaged one: ") + error.what());
  }
  if (!found) return Malformed("this is not an ONNX model: it has no graph");
  return graph;
}

}  // namespace vernier::pluginref
