#include "surgeon/graph_parts.h"

#include <memory>

#include "model/onnx/wire_fields.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Fields of onnx.proto.
constexpr uint32_t kModelGraph = 7, kModelIrVersion = 1;
constexpr uint32_t kNodeInput = 1, kNodeOutput = 2, kNodeAttribute = 5;
constexpr uint32_t kTensorName = 8;
constexpr uint32_t kAttributeGraph = 6, kAttributeGraphs = 11;
// From this version on an initializer need not be an input as well.
constexpr int64_t kFreeInitializers = 4;

struct PartKind {
  uint32_t field;
  std::vector<std::string_view> GraphParts::*list;
};

constexpr PartKind kKinds[] = {{1, &GraphParts::nodes},
                               {5, &GraphParts::initializers},
                               {15, &GraphParts::sparse_initializers},
                               {11, &GraphParts::inputs},
                               {12, &GraphParts::outputs},
                               {13, &GraphParts::value_info}};

const PartKind* KindOf(const WireField& field) {
  if (field.type != WireType::kBytes) return nullptr;
  for (const PartKind& kind : kKinds) {
    if (kind.field == field.number) return &kind;
  }
  return nullptr;
}

class Rewriter {
 public:
  Rewriter(const OnnxModel& model, const std::function<Status(GraphInModel&)>& visit)
      : model_(model), visit_(visit) {}

  Result<OnnxModel> Rewrite() {
    std::string bytes, graph;
    bool new_initializers = false;
    for (const WireField& field : FieldsOf(model_.bytes(), OnnxMessage::kModel)) {
      if (field.number != kModelGraph || field.type != WireType::kBytes) continue;
      VERNIER_ASSIGN_OR_RETURN(graph, Graph(model_.graph(), field.content, &new_initializers));
    }
    const bool raise = new_initializers && model_.contents().ir_version < kFreeInitializers;
    for (const WireField& field : FieldsOf(model_.bytes(), OnnxMessage::kModel)) {
      if (field.number == kModelGraph && field.type == WireType::kBytes) {
        AppendBytesField(bytes, kModelGraph, graph);
      } else if (field.number == kModelIrVersion && raise) {
        AppendVarintField(bytes, kModelIrVersion, kFreeInitializers);
      } else {
        bytes.append(field.field);
      }
    }
    return OwnModel(std::move(bytes), model_.path());
  }

 private:
  Result<std::string> Graph(const OnnxGraph& graph, std::string_view bytes,
                            bool* new_initializers = nullptr) {
    GraphParts parts = SplitGraph(bytes);
    const size_t before = parts.initializers.size();
    enclosing_.push_back(&graph);
    for (size_t i = 0; i < parts.nodes.size() && i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].subgraph_count == 0) continue;
      VERNIER_ASSIGN_OR_RETURN(std::string node, Bodies(graph, graph.nodes[i], parts.nodes[i]));
      if (node != parts.nodes[i]) parts.nodes[i] = store_.Keep(std::move(node));
    }
    enclosing_.pop_back();
    GraphInModel here{graph, enclosing_.empty(), enclosing_, parts, store_};
    VERNIER_TRY(visit_(here));
    if (new_initializers != nullptr) *new_initializers = parts.initializers.size() > before;
    return JoinGraph(parts);
  }

  Result<std::string> Bodies(const OnnxGraph& graph, const OnnxNode& node, std::string_view bytes) {
    std::string out;
    const auto links = graph.Subgraphs(node);
    size_t next = 0;
    for (const WireField& field : FieldsOf(bytes, OnnxMessage::kNode)) {
      if (field.number != kNodeAttribute || field.type != WireType::kBytes) {
        out.append(field.field);
        continue;
      }
      std::string attribute;
      for (const WireField& inner : FieldsOf(field.content, OnnxMessage::kAttribute)) {
        const bool body = inner.number == kAttributeGraph || inner.number == kAttributeGraphs;
        if (!body || inner.type != WireType::kBytes || next >= links.size()) {
          attribute.append(inner.field);
          continue;
        }
        VERNIER_ASSIGN_OR_RETURN(const std::string rewritten,
                                 Graph(model_.Subgraph(links[next++]), inner.content));
        AppendBytesField(attribute, inner.number, rewritten);
      }
      AppendBytesField(out, kNodeAttribute, attribute);
    }
    return out;
  }

  const OnnxModel& model_;
  const std::function<Status(GraphInModel&)>& visit_;
  MessageStore store_;
  std::vector<const OnnxGraph*> enclosing_;
};

}  // namespace

GraphParts SplitGraph(std::string_view graph) {
  GraphParts parts;
  for (const WireField& field : FieldsOf(graph, OnnxMessage::kGraph)) {
    if (const PartKind* kind = KindOf(field)) {
      (parts.*(kind->list)).push_back(field.content);
    } else {
      parts.rest.push_back(field.field);
    }
  }
  return parts;
}

std::string JoinGraph(const GraphParts& parts) {
  std::string graph;
  for (const std::string_view message : parts.nodes) AppendBytesField(graph, 1, message);
  for (const std::string_view field : parts.rest) graph.append(field);
  for (const PartKind& kind : kKinds) {
    if (kind.list == &GraphParts::nodes) continue;
    for (const std::string_view message : parts.*(kind.list)) {
      AppendBytesField(graph, kind.field, message);
    }
  }
  return graph;
}

Result<OnnxModel> RewriteGraphs(const OnnxModel& model,
                                const std::function<Status(GraphInModel&)>& visit) {
  if (model.contents().graph_parts > 1) {
    return Unimplemented("'" + model.path() +
                         "' gives its graph in several parts; save it anew with onnx first");
  }
  return Rewriter(model, visit).Rewrite();
}

std::string RenameValues(std::string_view node,
                         const std::function<std::string(std::string_view, bool)>& rename) {
  std::string out;
  for (const WireField& field : FieldsOf(node, OnnxMessage::kNode)) {
    const bool value = field.number == kNodeInput || field.number == kNodeOutput;
    if (value && field.type == WireType::kBytes) {
      AppendBytesField(out, field.number, rename(field.content, field.number == kNodeOutput));
    } else {
      out.append(field.field);
    }
  }
  return out;
}

std::string RenamedTensor(std::string_view tensor, std::string_view name) {
  std::string out;
  for (const WireField& field : FieldsOf(tensor, OnnxMessage::kTensor)) {
    if (field.number != kTensorName) out.append(field.field);
  }
  AppendBytesField(out, kTensorName, name);
  return out;
}

Result<OnnxModel> OwnModel(std::string bytes, const std::string& path) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return OnnxModel::FromBytes(std::as_bytes(std::span(*owner)), owner, path);
}

}  // namespace vernier
