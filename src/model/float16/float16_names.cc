#include "model/float16/float16_names.h"

#include <algorithm>

#include "model/float16/float16_rules.h"
#include "model/onnx/wire_reader.h"

namespace vernier {

Float16Names::Float16Names(const OnnxModel& model, const Float16Functions& functions,
                           std::span<const std::string_view> outputs, const Float16Kept& kept,
                           Float16Edit& edit)
    : model_(model),
      functions_(functions),
      outputs_(outputs.begin(), outputs.end()),
      kept_(kept),
      edit_(edit) {
  CollectNames(model.graph());
  for (const OnnxFunction& function : model.contents().functions) CollectNames(function.body);
  for (const OnnxGraph& graph : model.contents().subgraphs) CollectNames(graph);
}

// A field of the graph or function that `scope` is of.
std::string Float16Names::CastNode(const Float16Scope& scope, std::string_view from,
                                   std::string_view to, int32_t type) {
  std::string attribute, node, field;
  AppendBytesField(attribute, 1, "to");
  AppendVarintField(attribute, 3, static_cast<uint64_t>(type));
  AppendVarintField(attribute, 20, 2);  // an integer
  AppendBytesField(node, 1, from);
  AppendBytesField(node, 2, to);
  AppendBytesField(node, 3, Unique(std::string(to), node_names_));
  AppendBytesField(node, 4, "Cast");
  AppendBytesField(node, 5, attribute);
  AppendBytesField(field, scope.fields.node, node);
  return field;
}

void Float16Names::Plan(Float16Scope& scope) {
  FindKept(scope);
  FindHalfReaders(scope);
  KeepConstants(scope);
  PlanOutputs(scope);
}

void Float16Names::CollectNames(const OnnxGraph& graph) {
  for (const std::string_view name : graph.node_values) names_.emplace(name);
  for (const OnnxNode& node : graph.nodes) node_names_.emplace(node.name);
  for (const OnnxValue& input : graph.inputs) names_.emplace(input.name);
  for (const OnnxTensor& tensor : graph.initializers) names_.emplace(tensor.name);
}

std::string Float16Names::Unique(std::string name, std::unordered_set<std::string>& taken) {
  std::string unique = name;
  for (int i = 1; !taken.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
  return unique;
}

// Nodes in bodies that are to stay read weights of the graphs around them, too.
void Float16Names::AddNeeds(const OnnxGraph& graph,
                            std::unordered_set<std::string_view>& names) const {
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) AddNeeds(model_.Subgraph(link), names);
    if (!kept_.contains(&node)) continue;
    for (const std::string_view name : graph.Inputs(node)) names.insert(name);
  }
}

// The inputs of the main graph, and initializers that a node that stays needs.
void Float16Names::FindKept(Float16Scope& scope) {
  std::unordered_set<std::string_view> needed;
  AddNeeds(scope.graph, needed);
  for (const OnnxNode& node : scope.graph.nodes) {
    const bool stays =
        kept_.contains(&node) || StaysFloat32(model_, functions_, scope.graph, node, scope.types);
    scope.node_stays.push_back(stays);
    if (!stays) continue;
    for (const std::string_view name : scope.graph.Inputs(node)) needed.insert(name);
  }
  if (scope.is_main() || scope.of_kept_node) {
    for (const OnnxValue& input : scope.graph.inputs) {
      if (scope.TypeOf(input.name) == kOnnxFloat) scope.kept.insert(input.name);
    }
  }
  const auto is_result = [&](std::string_view name) {
    return std::any_of(scope.graph.outputs.begin(), scope.graph.outputs.end(),
                       [&](const OnnxValue& output) { return output.name == name; });
  };
  for (const OnnxTensor& tensor : scope.graph.initializers) {
    if (tensor.onnx_type != kOnnxFloat) continue;
    const bool kept = scope.is_main() || scope.of_kept_node
                          ? needed.contains(tensor.name) || IsOutput(tensor.name, scope)
                          : needed.contains(tensor.name) && !is_result(tensor.name);
    if (kept) scope.kept.insert(tensor.name);
  }
}

void Float16Names::AddReads(const OnnxGraph& graph,
                            std::unordered_set<std::string_view>& names) const {
  for (const OnnxNode& node : graph.nodes) {
    for (const std::string_view name : graph.Inputs(node)) names.insert(name);
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) AddReads(model_.Subgraph(link), names);
  }
  for (const OnnxValue& output : graph.outputs) names.insert(output.name);
}

// What only nodes that stay read needs no cast to float16. Bodies are counted as a whole: which of
// their nodes stay is not known yet.
void Float16Names::FindHalfReaders(Float16Scope& scope) const {
  for (size_t n = 0; n < scope.graph.nodes.size(); ++n) {
    const OnnxNode& node = scope.graph.nodes[n];
    for (const OnnxSubgraph& link : scope.graph.Subgraphs(node)) {
      AddReads(model_.Subgraph(link), scope.read_as_half);
    }
    if (scope.node_stays[n]) continue;
    for (const std::string_view name : scope.graph.Inputs(node)) scope.read_as_half.insert(name);
  }
  for (const OnnxValue& output : scope.graph.outputs) {
    if (!IsOutput(output.name, scope)) scope.read_as_half.insert(output.name);
  }
}

// A constant that only nodes that stay read would lose digits on the way to float16 and back; and
// OpenVINO 2026.4 makes a scalar of an empty one that is cast.
void Float16Names::KeepConstants(Float16Scope& scope) {
  for (size_t n = 0; n < scope.graph.nodes.size(); ++n) {
    const OnnxNode& node = scope.graph.nodes[n];
    const auto outputs = scope.graph.Outputs(node);
    if (node.op_type != "Constant" || outputs.empty()) continue;
    if (!scope.HasHalf(outputs[0]) && !IsOutput(outputs[0], scope)) scope.node_stays[n] = true;
  }
}

// Before any node is looked at: which values are where in which type.
void Float16Names::PlanOutputs(Float16Scope& scope) {
  for (size_t n = 0; n < scope.graph.nodes.size(); ++n) {
    const OnnxNode& node = scope.graph.nodes[n];
    const std::span<const std::string_view> outputs = scope.graph.Outputs(node);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string_view name = outputs[i];
      const bool float_made = scope.node_stays[n] || OutputStaysFloat32(node, i);
      const int32_t type = scope.TypeOf(name);
      if (!name.empty() && type == 0 && (float_made || IsOutput(name, scope))) {
        edit_.untyped.push_back(name);
      }
      if (name.empty() || type != kOnnxFloat) continue;
      if (IsOutput(name, scope)) {
        scope.float_names[name] = name;
        scope.half_names[name] = Unique(std::string(name) + "_float16", names_);
      } else if (float_made) {
        scope.float_names[name] = scope.HasHalf(name)
                                      ? Unique(std::string(name) + "_float32", names_)
                                      : std::string(name);
      }
    }
  }
}

// Where a converted node reads a value.
std::string Float16Names::HalfName(std::string_view name, Float16Scope& scope) {
  for (Float16Scope* at = &scope; at != nullptr; at = at->outer) {
    const auto found = at->half_names.find(name);
    if (found != at->half_names.end()) return found->second;
    if (!at->kept.contains(name)) continue;
    const std::string half = Unique(std::string(name) + "_float16", names_);
    at->first_casts += CastNode(*at, name, half, kOnnxFloat16);
    at->half_names[name] = half;
    return half;
  }
  return std::string(name);
}

// Where a node that stays reads a float32 value.
std::string Float16Names::FloatName(std::string_view name, size_t index, Float16Scope& scope,
                                    const OnnxNode& node, std::string& casts) {
  for (const Float16Scope* at = &scope; at != nullptr; at = at->outer) {
    if (at->kept.contains(name)) return std::string(name);
    const auto found = at->float_names.find(name);
    if (found != at->float_names.end()) return found->second;
  }
  const std::string_view owner = node.name.empty() ? node.op_type : node.name;
  const std::string cast =
      Unique(std::string(owner) + "_input_cast_" + std::to_string(index), names_);
  casts += CastNode(scope, HalfName(name, scope), cast, kOnnxFloat);
  return cast;
}

void Float16Names::NameInputs(const OnnxNode& node, bool stays, Float16Scope& scope,
                              Float16NodeNames& names) {
  const std::span<const std::string_view> inputs = scope.graph.Inputs(node);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string_view name = inputs[i];
    const bool is_float = !name.empty() && scope.TypeOf(name) == kOnnxFloat;
    if (stays && !name.empty() && scope.TypeOf(name) == 0 && node.op_type != "Cast") {
      edit_.untyped.push_back(name);
    }
    if (stays) {
      names.inputs.push_back(is_float ? FloatName(name, i, scope, node, names.casts_before)
                                      : std::string(name));
    } else {
      names.inputs.push_back(name.empty() ? "" : HalfName(name, scope));
    }
  }
}

void Float16Names::NameOutputs(const OnnxNode& node, bool stays, Float16Scope& scope,
                               Float16NodeNames& names) {
  const std::span<const std::string_view> outputs = scope.graph.Outputs(node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string_view name = outputs[i];
    names.outputs.emplace_back(name);
    if (name.empty() || scope.TypeOf(name) != kOnnxFloat) continue;
    const bool float_made = stays || OutputStaysFloat32(node, i);
    const bool result = IsOutput(name, scope);
    if (!float_made && !result) continue;
    const std::string half = result ? scope.half_names[name] : std::string(name);
    const std::string& full = scope.float_names[name];
    names.outputs.back() = float_made ? full : half;
    if (!float_made) {
      names.casts_after += CastNode(scope, half, full, kOnnxFloat);
    } else if (scope.HasHalf(name)) {
      names.casts_after += CastNode(scope, full, half, kOnnxFloat16);
    }
  }
}

Float16NodeNames Float16Names::NamesOf(size_t index, Float16Scope& scope) {
  const OnnxNode& node = scope.graph.nodes[index];
  const bool stays = scope.node_stays[index];
  Float16NodeNames names;
  NameInputs(node, stays, scope, names);
  NameOutputs(node, stays, scope, names);
  const auto is_float = [&](std::string_view name) {
    return !name.empty() && scope.TypeOf(name) == kOnnxFloat;
  };
  const auto inputs = scope.graph.Inputs(node);
  const auto outputs = scope.graph.Outputs(node);
  const bool has_floats = std::any_of(inputs.begin(), inputs.end(), is_float) ||
                          std::any_of(outputs.begin(), outputs.end(), is_float);
  if (stays && has_floats && node.op_type != "Constant") ++edit_.kept_nodes;
  if (stays && IsFloat32Only(node)) {
    edit_.float32_only.emplace_back(node.name.empty() ? node.op_type : node.name);
  }
  return names;
}

}  // namespace vernier
