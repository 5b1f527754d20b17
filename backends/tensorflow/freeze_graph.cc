// --freeze-graph: constants in place of variables.
#include <map>
#include <set>

#include "loaded_graph.h"
#include "proto_bytes.h"

namespace vernier::tf {
namespace {

// Fields of GraphDef, NodeDef, AttrValue and TensorProto.
constexpr uint32_t kNode = 1;
constexpr uint32_t kName = 1, kOp = 2, kInput = 3, kAttribute = 5;
constexpr uint32_t kTypeValue = 6, kTensorValue = 8;
constexpr uint32_t kTensorType = 1, kTensorShape = 2, kTensorContent = 4, kTensorStrings = 8;
constexpr uint32_t kDim = 2, kDimSize = 1;

struct Node {
  std::string_view name, op, message;
  std::vector<std::string_view> inputs;
};

// "^name" and "name:1" both name the operation.
std::string_view OperationOf(std::string_view input) {
  if (input.starts_with('^')) input.remove_prefix(1);
  return input.substr(0, input.find(':'));
}

bool IsRefVariable(std::string_view op) { return op == "VariableV2" || op == "Variable"; }

class Freezer {
 public:
  Freezer(const Api& api, const LoadedGraph& loaded) : api_(api), loaded_(loaded) {}

  Result<std::string> Run(const std::vector<GraphTensor>& outputs) {
    VERNIER_ASSIGN_OR_RETURN(graph_def_, GraphDefOf(api_, loaded_.graph.get()));
    ReadNodes();
    std::vector<std::string_view> wanted;
    for (const GraphTensor& output : outputs) {
      wanted.push_back(api_.TF_OperationName(output.output.oper));
    }
    Reach(std::move(wanted));
    VERNIER_TRY(FindValues());
    return Write();
  }

 private:
  void ReadNodes() {
    for (const std::string_view message : AllFieldBytes(graph_def_, kNode)) {
      Node node{FieldBytes(message, kName), FieldBytes(message, kOp), message,
                AllFieldBytes(message, kInput)};
      nodes_.emplace(node.name, node);
    }
  }

  void Reach(std::vector<std::string_view> waiting) {
    while (!waiting.empty()) {
      const std::string_view name = waiting.back();
      waiting.pop_back();
      if (!reached_.insert(name).second) continue;
      const auto node = nodes_.find(name);
      if (node == nodes_.end()) continue;
      for (const std::string_view input : node->second.inputs) {
        waiting.push_back(OperationOf(input));
      }
    }
  }

  // A variable's own output is its value, or a handle that a ReadVariableOp takes.
  Status FindValues() {
    std::vector<TF_Output> fetches;
    std::vector<std::string_view> names;
    const auto fetch = [&](std::string_view variable, std::string_view reader) {
      TF_Operation* operation =
          api_.TF_GraphOperationByName(loaded_.graph.get(), std::string(reader).c_str());
      names.push_back(variable);
      fetches.push_back({operation, 0});
    };
    for (const std::string_view name : reached_) {
      const auto found = nodes_.find(name);
      if (found == nodes_.end()) continue;
      const Node& node = found->second;
      if (IsRefVariable(node.op)) fetch(name, name);
      for (const std::string_view input : node.inputs) {
        const auto source = nodes_.find(OperationOf(input));
        if (source == nodes_.end() || source->second.op != "VarHandleOp") continue;
        if (node.op != "ReadVariableOp") {
          return Unimplemented("--freeze-graph: operation '" + std::string(name) + "' (" +
                               std::string(node.op) + ") uses the variable '" +
                               std::string(source->first) +
                               "' itself; freeze the model in Python with "
                               "convert_variables_to_constants_v2");
        }
        fetch(source->first, name);
      }
    }
    VERNIER_ASSIGN_OR_RETURN(std::vector<TensorHandle> values,
                             fetches.empty() ? std::vector<TensorHandle>()
                                             : Fetch(api_, loaded_.session.get(), fetches));
    for (size_t i = 0; i < names.size(); ++i) values_.emplace(names[i], std::move(values[i]));
    return {};
  }

  std::string Constant(const Node& node, TF_Tensor* value) const {
    const auto type = static_cast<uint64_t>(api_.TF_TensorType(value));
    ProtoWriter shape;
    uint64_t count = 1;
    for (int i = 0; i < api_.TF_NumDims(value); ++i) {
      const auto size = static_cast<uint64_t>(api_.TF_Dim(value, i));
      shape.Bytes(kDim, ProtoWriter().Number(kDimSize, size).bytes());
      count *= size;
    }
    ProtoWriter tensor;
    tensor.Number(kTensorType, type).Bytes(kTensorShape, shape.bytes());
    const void* data = api_.TF_TensorData(value);
    if (FromTf(static_cast<TF_DataType>(type)) == DType::kString) {
      const auto* strings = static_cast<const TF_TString*>(data);
      for (uint64_t i = 0; i < count; ++i) {
        tensor.Bytes(kTensorStrings, {api_.TF_StringGetDataPointer(&strings[i]),
                                      api_.TF_StringGetSize(&strings[i])});
      }
    } else {
      tensor.Bytes(kTensorContent, {static_cast<const char*>(data), api_.TF_TensorByteSize(value)});
    }
    return ProtoWriter()
        .Bytes(kName, node.name)
        .Bytes(kOp, "Const")
        .Bytes(kAttribute, Attribute("dtype", ProtoWriter().Number(kTypeValue, type)))
        .Bytes(kAttribute, Attribute("value", ProtoWriter().Bytes(kTensorValue, tensor.bytes())))
        .bytes();
  }

  static std::string Attribute(std::string_view key, const ProtoWriter& value) {
    return ProtoWriter().Bytes(kMapKey, key).Bytes(kMapValue, value.bytes()).bytes();
  }

  std::string Identity(const Node& node, TF_Tensor* value) const {
    ProtoWriter identity;
    identity.Bytes(kName, node.name).Bytes(kOp, "Identity");
    for (const std::string_view input : node.inputs) identity.Bytes(kInput, input);
    const auto type = static_cast<uint64_t>(api_.TF_TensorType(value));
    return identity.Bytes(kAttribute, Attribute("T", ProtoWriter().Number(kTypeValue, type)))
        .bytes();
  }

  std::string Frozen(const Node& node) const {
    if (const auto value = values_.find(node.name); value != values_.end()) {
      return Constant(node, value->second.get());
    }
    if (node.op == "ReadVariableOp") {
      const auto value = values_.find(OperationOf(node.inputs.front()));
      if (value != values_.end()) return Identity(node, value->second.get());
    }
    return std::string(node.message);
  }

  // Versions and functions stay as they are.
  std::string Write() const {
    ProtoWriter frozen;
    ProtoReader reader(graph_def_);
    while (const std::optional<ProtoField> field = reader.Next()) {
      if (field->id != kNode) {
        frozen.Raw(field->whole);
        continue;
      }
      const std::string_view name = FieldBytes(field->bytes, kName);
      if (reached_.count(name) > 0) frozen.Bytes(kNode, Frozen(nodes_.at(name)));
    }
    return frozen.bytes();
  }

  const Api& api_;
  const LoadedGraph& loaded_;
  std::string graph_def_;
  std::map<std::string_view, Node> nodes_;
  std::set<std::string_view> reached_;
  std::map<std::string_view, TensorHandle> values_;
};

}  // namespace

Result<LoadedGraph> FreezeGraph(const Api& api, const LoadedGraph& loaded,
                                const std::vector<GraphTensor>& outputs,
                                const SessionConfig& config) {
  VERNIER_ASSIGN_OR_RETURN(const std::string graph_def, Freezer(api, loaded).Run(outputs));
  LoadedGraph frozen(api);
  VERNIER_TRY(ImportGraph(api, graph_def, "the frozen graph", frozen.graph.get()));
  VERNIER_ASSIGN_OR_RETURN(frozen.session, NewSession(api, frozen.graph.get(), config));
  return frozen;
}

}  // namespace vernier::tf
