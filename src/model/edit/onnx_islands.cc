#include "model/edit/onnx_islands.h"

#include <algorithm>
#include <unordered_set>

#include "model/edit/model_composer.h"
#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

std::vector<std::string_view> InputsOf(const OnnxModel& model, std::span<const uint32_t> nodes,
                                       const Names& constants) {
  const OnnxGraph& graph = model.graph();
  Names made;
  for (const uint32_t node : nodes) {
    for (const std::string_view name : graph.Outputs(graph.nodes[node])) made.insert(name);
  }
  Names seen;
  std::vector<std::string_view> inputs;
  for (const uint32_t node : nodes) {
    for (const std::string_view name : ValuesReadBy(model, graph, graph.nodes[node])) {
      if (made.contains(name) || constants.contains(name)) continue;
      if (seen.insert(name).second) inputs.push_back(name);
    }
  }
  return inputs;
}

// A mark that no name of the model ends with, so that new names are new.
std::string Mark(const OnnxGraph& graph) {
  std::string mark = "@";
  const auto taken = [&](std::string_view name) { return name.find(mark) != name.npos; };
  const auto named = [&](const OnnxNode& node) { return taken(node.name); };
  while (std::ranges::any_of(graph.node_values, taken) || std::ranges::any_of(graph.nodes, named)) {
    mark += '@';
  }
  return mark;
}

// What the nodes make, with `ending` behind its name.
TensorRenames RenamesOf(const OnnxGraph& graph, std::span<const uint32_t> nodes,
                        const std::string& ending) {
  TensorRenames renames;
  for (const uint32_t node : nodes) {
    for (const std::string_view name : graph.Outputs(graph.nodes[node])) {
      if (!name.empty()) renames.emplace(name, std::string(name) + ending);
    }
  }
  return renames;
}

}  // namespace

TensorLookup WithFreeSizes(TensorLookup lookup) {
  return [lookup = std::move(lookup)](std::string_view name) {
    TensorInfo info = lookup(name);
    if (info.shape) info.shape->assign(info.shape->size(), Dim());
    return info;
  };
}

Result<IslandsModel> BuildIslands(const OnnxModel& model, std::span<const Island> islands,
                                  const TensorLookup& lookup) {
  const OnnxGraph& graph = model.graph();
  const Names constants = InitializerNames(graph);
  const std::string mark = Mark(graph);
  IslandsModel result;
  ModelComposer composer(model);
  Names fed;
  std::unordered_set<uint32_t> added;
  for (size_t i = 0; i < islands.size(); ++i) {
    const Island& island = islands[i];
    for (const std::string_view name : InputsOf(model, island.nodes, constants)) {
      if (!fed.insert(name).second) continue;
      TensorInfo info = lookup(name);
      info.name = std::string(name);
      composer.AddInput(info);
      result.inputs.push_back(info.name);
    }
    const TensorRenames renames = RenamesOf(graph, island.nodes, mark + std::to_string(i));
    for (const auto& [name, renamed] : renames) result.made.emplace(renamed, name);
    for (const uint32_t index : island.nodes) {
      const OnnxNode& node = graph.nodes[index];
      // Runtimes refuse two nodes of one name.
      const bool again = !added.insert(index).second && !node.name.empty();
      const std::string name = again ? std::string(node.name) + mark + std::to_string(i) : "";
      composer.AddNode(graph, node, renames, name);
    }
    std::vector<std::string>& outputs = result.outputs.emplace_back();
    for (const std::string_view name : island.outputs) {
      TensorInfo info = lookup(name);
      info.name = renames.at(name);
      // A node that computes another shape than expected is a finding, not a malformed model.
      info.shape.reset();
      composer.AddOutput(info);
      outputs.push_back(info.name);
    }
  }
  VERNIER_ASSIGN_OR_RETURN(result.bytes, composer.Finish());
  return result;
}

}  // namespace vernier
