#include "model/edit/model_composer.h"

#include <utility>

#include "model/onnx/onnx_order.h"
#include "model/onnx/wire_reader.h"

namespace vernier {
namespace {

// Fields of onnx.proto.
constexpr uint32_t kModelGraph = 7, kModelTraining = 20;
constexpr uint32_t kGraphNode = 1, kGraphName = 2, kGraphInitializer = 5, kGraphInput = 11,
                   kGraphOutput = 12, kGraphValueInfo = 13, kGraphSparse = 15;
constexpr uint32_t kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeAttribute = 5;
constexpr uint32_t kAttributeGraph = 6, kAttributeGraphs = 11;
constexpr uint32_t kValueName = 1;

void AppendHead(BytePieces& out, uint32_t field, uint64_t size) {
  std::string head;
  AppendTag(head, field, WireType::kBytes);
  AppendVarint(head, size);
  out.AddOwned(std::move(head));
}

void AppendView(BytePieces& out, uint32_t field, std::string_view bytes) {
  AppendHead(out, field, bytes.size());
  out.AddView(bytes);
}

void AppendPieces(BytePieces& out, uint32_t field, const BytePieces& content) {
  AppendHead(out, field, content.size());
  out.Append(content);
}

void AppendText(BytePieces& out, uint32_t field, std::string_view text) {
  std::string bytes;
  AppendBytesField(bytes, field, text);
  out.AddOwned(std::move(bytes));
}

// Copies messages with other names for tensors. Names that a body defines itself hide those of the
// graph around it.
class Renamer {
 public:
  Renamer(const OnnxModel& model, const TensorRenames& renames)
      : model_(model), renames_(renames) {}

  BytePieces Node(const OnnxGraph& graph, const OnnxNode& node, std::string_view new_name = {}) {
    BytePieces out;
    WireSource source(node.bytes);
    WireReader reader(source, OnnxMessage::kNode, node.bytes);
    size_t next_body = 0;
    const auto bodies = graph.Subgraphs(node);
    while (reader.Next()) {
      const bool name =
          reader.Is(kNodeInput, WireType::kBytes) || reader.Is(kNodeOutput, WireType::kBytes);
      const uint32_t field = reader.field();
      if (name) {
        AppendText(out, field, NameOf(reader.Bytes()));
      } else if (!new_name.empty() && reader.Is(kNodeName, WireType::kBytes)) {
        (void)reader.Bytes();
        AppendText(out, field, new_name);
      } else if (reader.Is(kNodeAttribute, WireType::kBytes)) {
        const std::string_view bytes = reader.Bytes();
        AppendPieces(out, field, Attribute(bytes, bodies, next_body));
      } else {
        reader.Skip();
        out.AddView(reader.FieldBytes());
      }
    }
    return out;
  }

 private:
  std::string_view NameOf(std::string_view name) const {
    const auto found = renames_.find(name);
    return found == renames_.end() || hidden_.contains(name) ? name
                                                             : std::string_view(found->second);
  }

  BytePieces Attribute(std::string_view bytes, std::span<const OnnxSubgraph> bodies, size_t& next) {
    BytePieces out;
    WireSource source(bytes);
    WireReader reader(source, OnnxMessage::kAttribute, bytes);
    while (reader.Next()) {
      const bool graph = reader.Is(kAttributeGraph, WireType::kBytes) ||
                         reader.Is(kAttributeGraphs, WireType::kBytes);
      if (graph && next < bodies.size()) {
        const uint32_t field = reader.field();
        const std::string_view body = reader.Bytes();
        AppendPieces(out, field, Body(body, model_.Subgraph(bodies[next++])));
      } else {
        reader.Skip();
        out.AddView(reader.FieldBytes());
      }
    }
    return out;
  }

  BytePieces Body(std::string_view bytes, const OnnxGraph& graph) {
    const std::unordered_set<std::string_view> before = hidden_;
    Hide(graph);
    BytePieces out;
    WireSource source(bytes);
    WireReader reader(source, OnnxMessage::kGraph, bytes);
    size_t next_node = 0;
    while (reader.Next()) {
      if (reader.Is(kGraphNode, WireType::kBytes) && next_node < graph.nodes.size()) {
        (void)reader.Bytes();
        AppendPieces(out, kGraphNode, Node(graph, graph.nodes[next_node++]));
      } else if (reader.Is(kGraphOutput, WireType::kBytes)) {
        const std::string_view value = reader.Bytes();
        AppendPieces(out, kGraphOutput, Value(value));
      } else {
        reader.Skip();
        out.AddView(reader.FieldBytes());
      }
    }
    hidden_ = before;
    return out;
  }

  // A body may hand out a tensor of the graph around it.
  BytePieces Value(std::string_view bytes) {
    BytePieces out;
    WireSource source(bytes);
    WireReader reader(source, OnnxMessage::kValueInfo, bytes);
    while (reader.Next()) {
      if (reader.Is(kValueName, WireType::kBytes)) {
        AppendText(out, kValueName, NameOf(reader.Bytes()));
      } else {
        reader.Skip();
        out.AddView(reader.FieldBytes());
      }
    }
    return out;
  }

  void Hide(const OnnxGraph& graph) {
    for (const OnnxValue& value : graph.inputs) hidden_.insert(value.name);
    for (const OnnxTensor& tensor : graph.initializers) hidden_.insert(tensor.name);
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string_view name : graph.Outputs(node)) hidden_.insert(name);
    }
  }

  const OnnxModel& model_;
  const TensorRenames& renames_;
  std::unordered_set<std::string_view> hidden_;
};

}  // namespace

BytePieces RenamedNode(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                       const TensorRenames& renames, std::string_view name) {
  return Renamer(model, renames).Node(graph, node, name);
}

std::string MakeValueInfo(const TensorInfo& info) {
  std::string value;
  AppendBytesField(value, kValueName, info.name);
  if (info.dtype == DType::kUndefined) return value;
  std::string tensor;
  AppendVarintField(tensor, 1, static_cast<uint64_t>(info.dtype));
  if (info.shape) {
    std::string shape;
    for (const Dim& dim : *info.shape) {
      std::string text;
      if (!dim.dynamic()) AppendVarintField(text, 1, static_cast<uint64_t>(dim.value));
      if (dim.dynamic() && !dim.symbol.empty()) AppendBytesField(text, 2, dim.symbol);
      AppendBytesField(shape, 1, text);
    }
    AppendBytesField(tensor, 2, shape);
  }
  std::string type;
  AppendBytesField(type, 1, tensor);
  AppendBytesField(value, 2, type);
  return value;
}

ModelComposer::ModelComposer(const OnnxModel& source) : source_(source) {
  Remember(source.graph());
  if (!source.graph().sparse_initializers.empty()) FindSparse();
}

void ModelComposer::Remember(const OnnxGraph& graph) {
  for (const OnnxTensor& tensor : graph.initializers) initializers_[tensor.name] = &tensor;
}

void ModelComposer::FindSparse() {
  size_t next = 0;
  WireSource file(source_.bytes());
  WireReader model(file, OnnxMessage::kModel, source_.bytes());
  while (model.Next()) {
    if (!model.Is(kModelGraph, WireType::kBytes)) {
      model.Skip();
      continue;
    }
    WireReader graph = model.Message(OnnxMessage::kGraph);
    while (graph.Next()) {
      const bool sparse = graph.Is(kGraphSparse, WireType::kBytes);
      if (graph.type() == WireType::kBytes) {
        graph.Bytes();
      } else {
        graph.Skip();
      }
      const auto& names = source_.graph().sparse_initializers;
      if (sparse && next < names.size()) sparse_[names[next++]] = graph.FieldBytes();
    }
  }
}

void ModelComposer::AddNode(const OnnxGraph& graph, const OnnxNode& node,
                            const TensorRenames& renames, std::string_view name) {
  for (const std::string_view value : ValuesReadBy(source_, graph, node)) {
    if (!renames.contains(value)) KeepInitializer(value);
  }
  if (renames.empty() && name.empty()) {
    AppendView(nodes_, kGraphNode, node.bytes);
  } else {
    AppendPieces(nodes_, kGraphNode, RenamedNode(source_, graph, node, renames, name));
  }
}

void ModelComposer::KeepInitializer(std::string_view name) {
  const bool constant = initializers_.contains(name) || sparse_.contains(name);
  if (constant && seen_.insert(name).second) used_.push_back(name);
}

Status ModelComposer::AppendInitializers(BytePieces& graph) const {
  for (const std::string_view name : used_) {
    if (const auto sparse = sparse_.find(name); sparse != sparse_.end()) {
      graph.AddView(sparse->second);
      continue;
    }
    const OnnxTensor& tensor = *initializers_.at(name);
    if (tensor.split) {
      return Unimplemented("'" + source_.path() + "': initializer '" + std::string(name) +
                           "' is given in several parts, which cannot be extracted");
    }
    AppendView(graph, kGraphInitializer, tensor.bytes);
  }
  return {};
}

Result<BytePieces> ModelComposer::Finish() const {
  BytePieces graph;
  graph.Append(nodes_);
  AppendText(graph, kGraphName,
             source_.graph().name.empty() ? std::string_view("part") : source_.graph().name);
  VERNIER_TRY(AppendInitializers(graph));
  for (const TensorInfo& input : inputs_) AppendText(graph, kGraphInput, MakeValueInfo(input));
  for (const TensorInfo& output : outputs_) AppendText(graph, kGraphOutput, MakeValueInfo(output));
  for (const std::string_view value : value_info_) AppendView(graph, kGraphValueInfo, value);

  BytePieces model;
  WireSource file(source_.bytes());
  WireReader reader(file, OnnxMessage::kModel, source_.bytes());
  bool has_graph = false;
  while (reader.Next()) {
    const uint32_t field = reader.field();
    if (reader.type() == WireType::kBytes) {
      (void)reader.Bytes();
    } else {
      reader.Skip();
    }
    if (field != kModelGraph && field != kModelTraining) model.AddView(reader.FieldBytes());
    // Where the source has it: OpenVINO takes no file for a model in which several imports come
    // first.
    if (field == kModelGraph && !std::exchange(has_graph, true)) {
      AppendPieces(model, kModelGraph, graph);
    }
  }
  if (!has_graph) AppendPieces(model, kModelGraph, graph);
  return model;
}

}  // namespace vernier
