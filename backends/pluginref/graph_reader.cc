#include "graph_reader.h"

#include <protozero/pbf_reader.hpp>

#include "tensor_reader.h"

namespace vernier::pluginref {
namespace {

using Reader = protozero::pbf_reader;

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

Result<Attribute> ReadAttribute(Reader in, const std::string& folder, std::string& name) {
  Attribute attribute;
  std::vector<float> floats;
  while (in.next()) {
    switch (in.tag()) {
      case kAttributeName:
        name = ReadText(in);
        break;
      case kAttributeF:
        attribute.number = static_cast<double>(in.get_float());
        break;
      case kAttributeI:
        attribute.integer = in.get_int64();
        break;
      case kAttributeS:
        attribute.text = ReadText(in);
        break;
      case kAttributeT: {
        VERNIER_ASSIGN_OR_RETURN(attribute.tensor, ReadTensor(ReadParts(in.get_message()), folder));
        break;
      }
      case kAttributeFloats:
        AppendFloats(in, floats);
        break;
      case kAttributeInts:
        AppendIntegers(in, attribute.integers);
        break;
      case kAttributeType:
        attribute.type = in.get_int32();
        break;
      default:
        in.skip();
    }
  }
  attribute.numbers.assign(floats.begin(), floats.end());
  return attribute;
}

Result<Node> ReadNode(Reader in, const std::string& folder) {
  Node node;
  while (in.next()) {
    switch (in.tag()) {
      case kNodeInput:
        node.inputs.push_back(ReadText(in));
        break;
      case kNodeOutput:
        node.outputs.push_back(ReadText(in));
        break;
      case kNodeName:
        node.name = ReadText(in);
        break;
      case kNodeOp:
        node.op = ReadText(in);
        break;
      case kNodeDomain:
        node.domain = ReadText(in);
        break;
      case kNodeAttribute: {
        std::string name;
        VERNIER_ASSIGN_OR_RETURN(Attribute attribute,
                                 ReadAttribute(in.get_message(), folder, name));
        node.attributes[name] = std::move(attribute);
        break;
      }
      default:
        in.skip();
    }
  }
  return node;
}

int64_t ReadDim(Reader in) {
  int64_t size = -1;
  while (in.next()) {
    if (in.tag() == 1) {
      size = in.get_int64();
    } else {
      in.skip();
    }
  }
  return size < 0 ? -1 : size;
}

Dims ReadShape(Reader in) {
  Dims dims;
  while (in.next()) {
    if (in.tag() == 1) {
      dims.push_back(ReadDim(in.get_message()));
    } else {
      in.skip();
    }
  }
  return dims;
}

void ReadTensorType(Reader in, Value& value) {
  while (in.next()) {
    if (in.tag() == 1) {
      value.dtype = DTypeFromOnnx(in.get_int32()).value_or(DType::kUndefined);
    } else if (in.tag() == 2) {
      value.dims = ReadShape(in.get_message());
    } else {
      in.skip();
    }
  }
}

Value ReadValue(Reader in) {
  Value value;
  while (in.next()) {
    if (in.tag() == 1) {
      value.name = ReadText(in);
    } else if (in.tag() == 2) {
      Reader type = in.get_message();
      while (type.next()) {
        if (type.tag() == 1) {
          ReadTensorType(type.get_message(), value);
        } else {
          type.skip();
        }
      }
    } else {
      in.skip();
    }
  }
  return value;
}

Status ReadGraphProto(Reader in, const std::string& folder, Graph& graph) {
  while (in.next()) {
    switch (in.tag()) {
      case kGraphNode: {
        VERNIER_ASSIGN_OR_RETURN(Node node, ReadNode(in.get_message(), folder));
        graph.nodes.push_back(std::move(node));
        break;
      }
      case kGraphInitializer: {
        const TensorParts parts = ReadParts(in.get_message());
        VERNIER_ASSIGN_OR_RETURN(Array array, ReadTensor(parts, folder));
        graph.constants[parts.name] = std::move(array);
        break;
      }
      case kGraphInput:
        graph.inputs.push_back(ReadValue(in.get_message()));
        break;
      case kGraphOutput:
        graph.outputs.push_back(ReadValue(in.get_message()));
        break;
      default:
        in.skip();
    }
  }
  std::erase_if(graph.inputs, [&](const Value& v) { return graph.constants.contains(v.name); });
  return {};
}

void ReadOpset(Reader in, Graph& graph) {
  std::string domain;
  int64_t version = 0;
  while (in.next()) {
    if (in.tag() == kOpsetDomain) {
      domain = ReadText(in);
    } else if (in.tag() == kOpsetVersion) {
      version = in.get_int64();
    } else {
      in.skip();
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
    Reader in(bytes.data(), bytes.size());
    while (in.next()) {
      if (in.tag() == kModelGraph) {
        VERNIER_TRY(ReadGraphProto(in.get_message(), folder, graph));
        found = true;
      } else if (in.tag() == kModelOpset) {
        ReadOpset(in.get_message(), graph);
      } else {
        in.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return Malformed(std::string("this is no ONNX model, or a damaged one: ") + error.what());
  }
  if (!found) return Malformed("this is no ONNX model: it has no graph");
  return graph;
}

}  // namespace vernier::pluginref
