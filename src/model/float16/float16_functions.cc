#include "model/float16/float16_functions.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace vernier {
namespace {

// Deeper calls are not looked into, and stay: a file may be made to have endless ones.
constexpr int kDeepestConvertedCall = 64;

int32_t TypeOf(std::string_view name, const ValueTypes& types) {
  const auto found = types.find(name);
  return found == types.end() ? 0 : found->second;
}

bool AllKnown(const OnnxFunction& function, const ValueTypes& types) {
  return std::all_of(
      function.body.node_values.begin(), function.body.node_values.end(),
      [&](std::string_view name) { return name.empty() || TypeOf(name, types) != 0; });
}

}  // namespace

Float16Functions::Float16Functions(const OnnxModel& model)
    : model_(model), table_(model), inference_(model) {
  if (model.contents().functions.empty()) return;
  VisitCalls(model.graph(), inference_.OfGraph(model.graph(), {}), nullptr, 0);
  LeaveCalleesOfWhatStays();
}

void Float16Functions::VisitCalls(const OnnxGraph& graph, const ValueTypes& types, Called* caller,
                                  int depth) {
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxSubgraph& link : graph.Subgraphs(node)) {
      const OnnxGraph& body = model_.Subgraph(link);
      VisitCalls(body, inference_.OfBody(graph, node, body, types), caller, depth);
    }
    const OnnxFunction* function = table_.Find(node);
    if (function == nullptr) continue;
    if (caller != nullptr) caller->callees.push_back(function);
    std::vector<int32_t> arguments;
    for (const std::string_view name : graph.Inputs(node)) {
      arguments.push_back(TypeOf(name, types));
    }
    arguments.resize(function->inputs.size());
    VisitCall(*function, std::move(arguments), depth + 1);
  }
}

void Float16Functions::VisitCall(const OnnxFunction& function, std::vector<int32_t> arguments,
                                 int depth) {
  const auto [place, is_first] = called_.try_emplace(&function);
  Called& called = place->second;  // stays where it is when others are added
  if (!is_first) {
    called.stays |= called.arguments != arguments;
    return;
  }
  called.arguments = std::move(arguments);
  called.types = inference_.OfFunction(function, called.arguments);
  // Of a function with another opset no type is known, nor where calls are too deep.
  called.stays = !AllKnown(function, called.types);
  if (depth <= kDeepestConvertedCall) VisitCalls(function.body, called.types, &called, depth);
}

void Float16Functions::LeaveCalleesOfWhatStays() {
  std::vector<const Called*> left;
  for (const auto& [function, called] : called_) {
    if (called.stays) left.push_back(&called);
  }
  while (!left.empty()) {
    const Called& stays = *left.back();
    left.pop_back();
    for (const OnnxFunction* function : stays.callees) {
      const auto found = called_.find(function);
      if (found == called_.end() || found->second.stays) continue;
      found->second.stays = true;
      left.push_back(&found->second);
    }
  }
}

bool Float16Functions::IsConvertedCall(const OnnxNode& node) const {
  const OnnxFunction* function = table_.Find(node);
  return function != nullptr && TypesIn(*function) != nullptr;
}

const ValueTypes* Float16Functions::TypesIn(const OnnxFunction& function) const {
  const auto found = called_.find(&function);
  return found == called_.end() || found->second.stays ? nullptr : &found->second.types;
}

}  // namespace vernier
