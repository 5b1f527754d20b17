#include "model/edit/onnx_branch.h"

#include <algorithm>
#include <unordered_set>

#include "model/edit/model_composer.h"
#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

}  // namespace

Result<BranchModel> CutBranch(const OnnxModel& model, uint32_t node, std::string_view branch,
                              std::span<const uint32_t> constants, const TensorLookup& lookup) {
  const OnnxGraph& graph = model.graph();
  const auto bodies = graph.Subgraphs(graph.nodes[node]);
  const auto link = std::find_if(bodies.begin(), bodies.end(), [&](const OnnxSubgraph& body) {
    return body.attribute == branch;
  });
  if (link == bodies.end()) return NotFound("the node has no " + std::string(branch));
  const OnnxGraph& body = model.Subgraph(*link);
  Names made;
  for (const OnnxNode& inner : body.nodes) {
    for (const std::string_view name : body.Outputs(inner)) made.insert(name);
  }
  Names known = InitializerNames(graph);
  known.merge(InitializerNames(body));
  ModelComposer composer(model);
  for (const uint32_t constant : constants) {
    composer.AddNode(graph, graph.nodes[constant]);
    for (const std::string_view name : graph.Outputs(graph.nodes[constant])) known.insert(name);
  }
  composer.OpenBody(body);
  BranchModel result;
  for (const OnnxNode& inner : body.nodes) {
    for (const std::string_view name : ValuesReadBy(model, body, inner)) {
      if (made.contains(name) || !known.insert(name).second) continue;
      TensorInfo info = lookup(name);
      info.name = std::string(name);
      composer.AddInput(info);
      result.inputs.push_back(info.name);
    }
    composer.AddNode(body, inner);
  }
  bool any = false;
  for (const OnnxValue& output : body.outputs) {
    if (!made.contains(output.name)) continue;
    any = true;
    TensorInfo info = ToTensorInfo(output);
    info.shape.reset();
    composer.AddOutput(info);
  }
  if (!any) return NotFound("the body makes none of its outputs");
  VERNIER_ASSIGN_OR_RETURN(result.bytes, composer.Finish());
  return result;
}

}  // namespace vernier
