#include "model/onnx/flat_graph.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_order.h"

namespace vernier {
namespace {

// Behind it, a name has the number of its body.
constexpr char kMark = '\x1f';
// How deep calls in calls are looked into, and how much calls may add up to: a few functions that
// call each other can stand for any number of nodes, names and declarations.
constexpr size_t kDeepestCall = 32;
constexpr size_t kMostParts = 1'000'000;
constexpr size_t kShortName = 64;  // longer ones count for more
// The domain of what is not looked into.
constexpr std::string_view kOpaque = "opaque";

std::vector<uint32_t> OrderOf(const OnnxModel& model, const OnnxGraph& graph) {
  Result<std::vector<uint32_t>> order = TopologicalOrder(model, graph);
  if (order.ok()) return *std::move(order);
  std::vector<uint32_t> as_written(graph.nodes.size());
  std::iota(as_written.begin(), as_written.end(), 0);
  return as_written;
}

const std::vector<std::string_view>& ListOf(
    const std::unordered_map<std::string_view, std::vector<std::string_view>>& lists,
    std::string_view name) {
  static const std::vector<std::string_view> kNone;
  const auto found = lists.find(name);
  return found == lists.end() ? kNone : found->second;
}

}  // namespace

std::string_view ShownName(std::string_view name) { return name.substr(0, name.find(kMark)); }

bool IsForeign(const OnnxNode& node) {
  return !node.domain.empty() && node.domain != "ai.onnx" && node.domain != "com.microsoft";
}

FlatGraph::FlatGraph(const OnnxModel& model) : model_(model), functions_(model) {
  Declare(model.graph(), {});
  Add(model.graph(), {}, false);
}

const std::vector<std::string_view>& FlatGraph::Continuing(std::string_view name) const {
  return ListOf(continuing_, name);
}

std::optional<int64_t> FlatGraph::SlicedAxis(std::string_view name) const {
  const auto found = sliced_.find(name);
  return found == sliced_.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<std::string_view>& FlatGraph::Counters(std::string_view rounds) const {
  return ListOf(counters_, rounds);
}

std::string_view FlatGraph::RoundsOf(std::string_view counter) const {
  const auto found = rounds_.find(counter);
  return found == rounds_.end() ? std::string_view() : found->second;
}

std::string_view FlatGraph::Scope::Find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->around) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return found->second;
  }
  return name;
}

void FlatGraph::Link(std::string_view from, std::string_view to) {
  if (!from.empty() && !to.empty()) continuing_[from].push_back(to);
}

// Gives names of their own to all values that the graph has, but for those that have one already.
void FlatGraph::Own(const OnnxGraph& graph, Scope& scope) {
  const std::string suffix = kMark + std::to_string(++bodies_);
  const auto own = [&](std::string_view name) {
    if (name.empty() || scope.names.contains(name)) return;
    scope.names[name] = owned_.emplace_back(std::string(name) + suffix);
    owned_size_ += 1 + name.size() / kShortName;
  };
  for (const OnnxValue& input : graph.inputs) own(input.name);
  for (const OnnxTensor& tensor : graph.initializers) own(tensor.name);
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string_view output : graph.Outputs(node)) own(output);
  }
}

void FlatGraph::Declare(const OnnxGraph& graph, const Scope& scope) {
  for (const OnnxTensor& tensor : graph.initializers) {
    flat_.initializers.push_back(tensor);
    flat_.initializers.back().name = scope.Find(tensor.name);
  }
  // The main graph's declarations may differ from what is fed.
  if (scope.names.empty()) return;
  for (const auto* values : {&graph.inputs, &graph.outputs, &graph.value_info}) {
    for (const OnnxValue& value : *values) {
      const auto own = scope.names.find(value.name);
      if (own == scope.names.end()) continue;
      flat_.value_info.push_back(value);
      flat_.value_info.back().name = own->second;
    }
  }
}

void FlatGraph::Add(const OnnxGraph& graph, const Scope& scope, bool in_function) {
  for (const uint32_t index : OrderOf(model_, graph)) {
    OnnxNode node = graph.nodes[index];
    if (functions_.Find(node) != nullptr) {
      if (AddCall(graph, node, scope)) continue;
      node.domain = kOpaque;
    }
    if (in_function && ReadsAttributesOfCall(node)) {
      if (node.op_type == "Constant") continue;
      node.domain = kOpaque;
    }
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
      AddBody(graph, node, model_.Subgraph(link), scope, in_function);
    }
    AddNode(graph, node, scope);
  }
}

void FlatGraph::AddNode(const OnnxGraph& graph, OnnxNode node, const Scope& scope) {
  const auto inputs = graph.Inputs(node);
  const auto outputs = graph.Outputs(node);
  node.first_value = static_cast<uint32_t>(flat_.node_values.size());
  node.subgraph_count = 0;
  for (const auto names : {inputs, outputs}) {
    for (const std::string_view name : names) flat_.node_values.push_back(scope.Find(name));
  }
  flat_.nodes.push_back(node);
}

// A body's inputs are the last ones of the node, behind a Loop's count and condition, and its
// outputs the node's, behind a Loop's condition. What is carried goes into the next round.
void FlatGraph::AddBody(const OnnxGraph& graph, const OnnxNode& node, const OnnxGraph& body,
                        const Scope& around, bool in_function) {
  Scope scope{.around = &around, .names = {}};
  Own(body, scope);
  Declare(body, scope);
  Add(body, scope, in_function);
  const bool loops = node.op_type == "Loop";
  const size_t skipped = loops ? 1 : 0;
  const auto inputs = graph.Inputs(node);
  const auto outputs = graph.Outputs(node);
  const auto outcome = [&](size_t i) { return scope.Find(body.outputs[i].name); };
  for (size_t i = 0; i < outputs.size() && i + skipped < body.outputs.size(); ++i) {
    Link(outcome(i + skipped), around.Find(outputs[i]));
  }
  if (node.op_type == "If") return;
  const size_t count = body.inputs.size();
  const size_t first = inputs.size() > count ? inputs.size() - count : 0;
  for (size_t i = loops ? 2 : 0; i < count && i + first < inputs.size(); ++i) {
    Link(around.Find(inputs[i + first]), scope.Find(body.inputs[i].name));
  }
  if (!loops && node.op_type != "Scan") return;
  NodeAttributes attributes(model_, node);
  const auto scanned =
      static_cast<size_t>(std::max<int64_t>(attributes.Int("num_scan_inputs", 0), 0));
  const size_t carried = count - std::min(count, scanned);
  const std::vector<int64_t> axes = attributes.Ints("scan_input_axes");
  for (size_t i = carried; !loops && i < count; ++i) {
    sliced_[scope.Find(body.inputs[i].name)] = i - carried < axes.size() ? axes[i - carried] : 0;
  }
  for (size_t i = loops ? 2 : 0; i < carried && i - skipped < body.outputs.size(); ++i) {
    Link(outcome(i - skipped), scope.Find(body.inputs[i].name));
  }
  if (!loops || body.inputs.empty() || inputs.empty() || inputs[0].empty()) return;
  const std::string_view rounds = around.Find(inputs[0]);
  const std::string_view counter = scope.Find(body.inputs[0].name);
  counters_[rounds].push_back(counter);
  rounds_[counter] = rounds;
}

size_t FlatGraph::Kept() const {
  return flat_.nodes.size() + flat_.node_values.size() + flat_.initializers.size() +
         flat_.value_info.size() + owned_size_;
}

// False where it is one call too many.
bool FlatGraph::AddCall(const OnnxGraph& graph, const OnnxNode& call, const Scope& around) {
  const OnnxFunction& function = *functions_.Find(call);
  const size_t read = 1 + function.inputs.size() + function.outputs.size() +
                      function.body.nodes.size() + function.body.node_values.size();
  if (depth_ == kDeepestCall || read_ + read + Kept() > kMostParts) return false;
  read_ += read;
  Scope scope;
  const auto inputs = graph.Inputs(call);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    scope.names[function.inputs[i]] =
        i < inputs.size() ? around.Find(inputs[i]) : std::string_view();
  }
  const auto outputs = graph.Outputs(call);
  for (size_t i = 0; i < std::min(outputs.size(), function.outputs.size()); ++i) {
    const std::string_view actual = around.Find(outputs[i]);
    if (actual.empty()) continue;
    const auto [known, added] = scope.names.emplace(function.outputs[i], actual);
    if (!added) Link(known->second, actual);
  }
  Own(function.body, scope);
  ++depth_;
  Add(function.body, scope, true);
  --depth_;
  return true;
}

bool FlatGraph::ReadsAttributesOfCall(const OnnxNode& node) const {
  const std::vector<OnnxAttribute> attributes = model_.Attributes(node);
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const OnnxAttribute& each) { return !each.reference.empty(); });
}

}  // namespace vernier
