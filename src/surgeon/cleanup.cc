#include "surgeon/cleanup.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/onnx/onnx_order.h"
#include "surgeon/graph_parts.h"

namespace vernier {
namespace {

using Names = std::unordered_set<std::string_view>;

// What the outputs of a graph need: nodes by index, and every value that is read.
struct Needed {
  std::vector<bool> nodes;
  Names values;
};

Needed FindNeeded(const OnnxModel& model, const OnnxGraph& graph) {
  std::unordered_map<std::string_view, uint32_t> producers;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
      if (!name.empty()) producers.emplace(name, i);
    }
  }
  Needed needed{std::vector<bool>(graph.nodes.size(), false), {}};
  std::vector<std::string_view> open;
  for (const OnnxValue& output : graph.outputs) open.push_back(output.name);
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    if (!needed.values.insert(name).second) continue;
    const auto producer = producers.find(name);
    if (producer == producers.end() || needed.nodes[producer->second]) continue;
    needed.nodes[producer->second] = true;
    const auto reads = ValuesReadBy(model, graph, graph.nodes[producer->second]);
    open.insert(open.end(), reads.begin(), reads.end());
  }
  return needed;
}

template <typename Keep>
void KeepOnly(std::vector<std::string_view>& parts, const Keep& keep) {
  size_t kept = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (keep(i)) parts[kept++] = parts[i];
  }
  parts.resize(kept);
}

void DropUnused(const OnnxModel& model, GraphInModel& here) {
  const OnnxGraph& graph = here.graph;
  const Needed needed = FindNeeded(model, graph);
  Names alive = needed.values;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed.nodes[i]) continue;
    for (const std::string_view name : graph.Outputs(graph.nodes[i])) alive.insert(name);
  }
  // The default of an input: without it the input would have to be fed.
  for (const OnnxValue& input : graph.inputs) alive.insert(input.name);
  const auto is_alive = [&](std::string_view name) { return alive.contains(name); };
  KeepOnly(here.parts.nodes, [&](size_t i) { return needed.nodes[i]; });
  KeepOnly(here.parts.initializers, [&](size_t i) { return is_alive(graph.initializers[i].name); });
  KeepOnly(here.parts.sparse_initializers,
           [&](size_t i) { return is_alive(graph.sparse_initializers[i]); });
  KeepOnly(here.parts.value_info, [&](size_t i) { return is_alive(graph.value_info[i].name); });
}

bool IsUnchanged(const OnnxModel& before, const OnnxModel& after) {
  return before.bytes().size() == after.bytes().size();
}

}  // namespace

Result<OnnxModel> WithoutUnused(const OnnxModel& model) {
  const auto once = [](const OnnxModel& from) {
    return RewriteGraphs(from, [&](GraphInModel& here) -> Status {
      DropUnused(from, here);
      return {};
    });
  };
  VERNIER_ASSIGN_OR_RETURN(OnnxModel result, once(model));
  // What a body does not need any more may free nodes around it.
  while (!result.contents().subgraphs.empty()) {
    VERNIER_ASSIGN_OR_RETURN(OnnxModel next, once(result));
    const bool done = IsUnchanged(result, next);
    result = std::move(next);
    if (done) break;
  }
  return result;
}

Result<OnnxModel> InOrder(const OnnxModel& model) {
  return RewriteGraphs(model, [&](GraphInModel& here) -> Status {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<uint32_t> order,
                             TopologicalOrder(model, here.graph));
    const std::vector<std::string_view> nodes = here.parts.nodes;
    for (size_t i = 0; i < order.size(); ++i) here.parts.nodes[i] = nodes[order[i]];
    return {};
  });
}

}  // namespace vernier
