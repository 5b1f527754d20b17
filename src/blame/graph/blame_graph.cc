#include "blame/graph/blame_graph.h"

#include <algorithm>

#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"
#include "model/onnx/random_operators.h"

namespace vernier {
namespace {

bool Declares(const std::vector<OnnxValue>& values, std::string_view name) {
  return std::any_of(values.begin(), values.end(),
                     [&](const OnnxValue& value) { return value.name == name; });
}

}  // namespace

Result<BlameGraph> BlameGraph::Make(std::shared_ptr<const OnnxModel> model) {
  BlameGraph made;
  VERNIER_ASSIGN_OR_RETURN(made.order_, TopologicalOrder(*model));
  made.model_ = std::move(model);
  const OnnxGraph& graph = made.graph();
  const auto count = static_cast<uint32_t>(graph.nodes.size());
  made.place_.resize(count);
  for (uint32_t i = 0; i < count; ++i) made.place_[made.order_[i]] = i;
  for (uint32_t i = 0; i < count; ++i) {
    made.reads_.push_back(ValuesReadBy(*made.model_, graph, graph.nodes[i]));
    for (const std::string_view name : graph.Outputs(graph.nodes[i])) {
      if (!name.empty()) made.producers_.emplace(name, i);
    }
  }
  made.FindConstants();
  return made;
}

void BlameGraph::FindConstants() {
  initializers_ = InitializerNames(graph());
  for (const uint32_t index : order_) {
    const OnnxNode& node = graph().nodes[index];
    const auto is_fixed = [&](std::string_view name) {
      return initializers_.contains(name) || constants_.contains(name);
    };
    if (IsRandomOperator(node.op_type)) continue;
    if (!std::all_of(reads_[index].begin(), reads_[index].end(), is_fixed)) continue;
    for (const std::string_view name : graph().Outputs(node)) {
      if (!name.empty()) constants_.insert(name);
    }
  }
}

bool BlameGraph::IsInput(std::string_view name) const { return Declares(graph().inputs, name); }

bool BlameGraph::IsOutput(std::string_view name) const { return Declares(graph().outputs, name); }

std::vector<std::string> BlameGraph::OutputNames() const {
  std::vector<std::string> names;
  for (const OnnxValue& output : graph().outputs) {
    const auto producer = producers_.find(output.name);
    if (producer == producers_.end()) continue;
    if (graph().nodes[producer->second].op_type != "Constant") names.emplace_back(output.name);
  }
  return names;
}

std::vector<std::string> BlameGraph::InOrder(const NameSet& names) const {
  std::vector<std::string> sorted;
  for (const uint32_t index : order_) {
    for (const std::string_view name : graph().Outputs(graph().nodes[index])) {
      if (names.contains(name)) sorted.emplace_back(name);
    }
  }
  return sorted;
}

std::vector<uint32_t> BlameGraph::Targets(const NameSet& visible) const {
  std::vector<uint32_t> targets;
  for (const uint32_t index : order_) {
    const auto outputs = graph().Outputs(graph().nodes[index]);
    const bool any = std::any_of(outputs.begin(), outputs.end(),
                                 [&](std::string_view name) { return visible.contains(name); });
    if (any) targets.push_back(index);
  }
  return targets;
}

std::vector<Island> BlameGraph::Islands(std::span<const uint32_t> targets, const NameSet& visible,
                                        const NameSet& disputed) const {
  std::vector<Island> islands;
  for (const uint32_t target : targets) {
    Island island;
    std::unordered_set<uint32_t> taken = {target};
    std::vector<uint32_t> open = {target};
    while (!open.empty()) {
      const uint32_t index = open.back();
      open.pop_back();
      island.nodes.push_back(index);
      for (const std::string_view name : reads_[index]) {
        const bool stops = visible.contains(name) && (!IsConstant(name) || disputed.contains(name));
        const auto producer = producers_.find(name);
        if (stops || producer == producers_.end()) continue;
        if (taken.insert(producer->second).second) open.push_back(producer->second);
      }
    }
    std::sort(island.nodes.begin(), island.nodes.end(),
              [&](uint32_t a, uint32_t b) { return place_[a] < place_[b]; });
    for (const std::string_view name : graph().Outputs(graph().nodes[target])) {
      if (visible.contains(name)) island.outputs.push_back(name);
    }
    islands.push_back(std::move(island));
  }
  return islands;
}

std::vector<std::string_view> BlameGraph::InputsOf(const Island& island) const {
  NameSet made;
  for (const uint32_t node : island.nodes) {
    const auto outputs = graph().Outputs(graph().nodes[node]);
    made.insert(outputs.begin(), outputs.end());
  }
  NameSet seen;
  std::vector<std::string_view> inputs;
  for (const uint32_t node : island.nodes) {
    for (const std::string_view name : reads_[node]) {
      if (made.contains(name) || initializers_.contains(name)) continue;
      if (seen.insert(name).second) inputs.push_back(name);
    }
  }
  return inputs;
}

std::vector<uint32_t> BlameGraph::MakersOfConstants(std::span<const std::string_view> names) const {
  std::unordered_set<uint32_t> taken;
  std::vector<std::string_view> open(names.begin(), names.end());
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    const auto producer = producers_.find(name);
    if (producer == producers_.end() || !IsConstant(name)) continue;
    if (!taken.insert(producer->second).second) continue;
    open.insert(open.end(), reads_[producer->second].begin(), reads_[producer->second].end());
  }
  std::vector<uint32_t> nodes(taken.begin(), taken.end());
  std::sort(nodes.begin(), nodes.end(),
            [&](uint32_t a, uint32_t b) { return place_[a] < place_[b]; });
  return nodes;
}

std::string BlameGraph::NodeName(uint32_t node) const {
  const OnnxNode& found = graph().nodes[node];
  if (!found.name.empty()) return std::string(found.name);
  for (const std::string_view name : graph().Outputs(found)) {
    if (!name.empty()) return std::string(name);
  }
  return "node " + std::to_string(node);
}

}  // namespace vernier
