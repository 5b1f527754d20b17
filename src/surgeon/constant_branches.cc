// An If whose condition is known becomes the branch that it takes.
#include <unordered_set>

#include "io/test_data/tensor_proto.h"
#include "model/edit/model_composer.h"
#include "model/onnx/wire_reader.h"
#include "surgeon/constant_folding.h"
#include "surgeon/graph_parts.h"

namespace vernier {
namespace {

using OwnedNames = std::unordered_set<std::string>;

// The initializer that a node of the graph sees under that name.
const OnnxTensor* FindInitializer(const GraphInModel& here, std::string_view name) {
  std::vector<const OnnxGraph*> scopes(here.enclosing.begin(), here.enclosing.end());
  scopes.push_back(&here.graph);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    for (const OnnxTensor& tensor : (*scope)->initializers) {
      if (tensor.name == name) return &tensor;
    }
    for (const OnnxValue& input : (*scope)->inputs) {
      if (input.name == name) return nullptr;
    }
  }
  return nullptr;
}

std::optional<bool> ConditionOf(const GraphInModel& here, const OnnxNode& node) {
  const auto inputs = here.graph.Inputs(node);
  if (node.op_type != "If" || !node.domain.empty() || inputs.size() != 1) return std::nullopt;
  for (const OnnxValue& input : here.graph.inputs) {
    if (input.name == inputs[0]) return std::nullopt;  // a default that a caller may replace
  }
  const OnnxTensor* tensor = FindInitializer(here, inputs[0]);
  if (tensor == nullptr || tensor->external || tensor->dtype != DType::kBool) return std::nullopt;
  const Result<NamedTensor> parsed =
      ParseTensorProto(std::as_bytes(std::span(tensor->bytes.data(), tensor->bytes.size())));
  if (!parsed.ok() || parsed->tensor.element_count() != 1) return std::nullopt;
  return parsed->tensor.bytes()[0] != std::byte{0};
}

void AddNames(const OnnxGraph& graph, OwnedNames& names) {
  for (const std::string_view name : graph.node_values) names.emplace(name);
  for (const OnnxTensor& tensor : graph.initializers) names.emplace(tensor.name);
  for (const OnnxValue& input : graph.inputs) names.emplace(input.name);
}

// Puts the nodes of a body among those of the graph around it.
class Inliner {
 public:
  Inliner(const OnnxModel& model, GraphInModel& here) : model_(model), here_(here) {
    AddNames(here.graph, taken_);
    for (const OnnxGraph& body : model.contents().subgraphs) AddNames(body, taken_);
  }

  Status Inline(size_t index, const OnnxGraph& body, std::vector<std::string_view>& nodes) {
    const auto outputs = here_.graph.Outputs(here_.graph.nodes[index]);
    const std::string suffix = "_subg_" + std::to_string(index) + "_" + std::string(body.name);
    TensorRenames renames;
    std::unordered_set<std::string_view> made;
    for (const OnnxNode& node : body.nodes) {
      for (const std::string_view name : body.Outputs(node)) {
        if (!name.empty()) made.insert(name);
      }
    }
    for (size_t i = 0; i < body.outputs.size() && i < outputs.size(); ++i) {
      const std::string_view name = body.outputs[i].name;
      if (!outputs[i].empty() && made.contains(name)) renames.emplace(name, outputs[i]);
    }
    for (const std::string_view name : made) Choose(name, suffix, renames);
    for (const OnnxTensor& tensor : body.initializers) Choose(tensor.name, suffix, renames);
    for (const OnnxNode& node : body.nodes) {
      VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                               ToBytes(RenamedNode(model_, body, node, renames)));
      nodes.push_back(
          here_.store.Keep({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    CopyInitializers(body, renames);
    for (size_t i = 0; i < body.outputs.size() && i < outputs.size(); ++i) {
      HandOn(body.outputs[i].name, outputs[i], renames, nodes);
    }
    return {};
  }

 private:
  void Choose(std::string_view name, const std::string& suffix, TensorRenames& renames) {
    if (renames.contains(name)) return;
    std::string chosen = std::string(name) + suffix;
    while (!taken_.insert(chosen).second) chosen += "_";
    renames.emplace(name, chosen);
  }

  void CopyInitializers(const OnnxGraph& body, const TensorRenames& renames) {
    for (const OnnxTensor& tensor : body.initializers) {
      here_.parts.initializers.push_back(
          here_.store.Keep(RenamedTensor(tensor.bytes, renames.at(tensor.name))));
    }
  }

  // What the body did not make, or hands out twice.
  void HandOn(std::string_view inner, std::string_view outer, const TensorRenames& renames,
              std::vector<std::string_view>& nodes) {
    const auto renamed = renames.find(inner);
    const std::string_view from =
        renamed == renames.end() ? inner : std::string_view(renamed->second);
    if (outer.empty() || from == outer) return;
    std::string node;
    AppendBytesField(node, 1, from);
    AppendBytesField(node, 2, outer);
    AppendBytesField(node, 4, "Identity");
    nodes.push_back(here_.store.Keep(std::move(node)));
  }

  const OnnxModel& model_;
  GraphInModel& here_;
  OwnedNames taken_;
};

}  // namespace

Result<OnnxModel> WithoutConstantConditions(const OnnxModel& model) {
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    if (model.contents().subgraphs.empty()) return {};
    Inliner inliner(model, here);
    std::vector<std::string_view> nodes;
    for (size_t i = 0; i < here.graph.nodes.size(); ++i) {
      const OnnxNode& node = here.graph.nodes[i];
      const std::optional<bool> condition = ConditionOf(here, node);
      const OnnxGraph* body = nullptr;
      for (const OnnxSubgraph& link : here.graph.Subgraphs(node)) {
        const std::string_view wanted = condition.value_or(false) ? "then_branch" : "else_branch";
        if (condition && link.attribute == wanted) body = &model.Subgraph(link);
      }
      if (body == nullptr || !body->sparse_initializers.empty()) {
        nodes.push_back(here.parts.nodes[i]);
      } else {
        VERNIER_TRY(inliner.Inline(i, *body, nodes));
      }
    }
    here.parts.nodes = std::move(nodes);
    return {};
  });
}

}  // namespace vernier
