#include "model/onnx/random_operators.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/onnx/function_table.h"
#include "model/onnx/mapped_weight.h"
#include "model/onnx/onnx_attributes.h"

namespace vernier {
namespace {

constexpr std::string_view kRandom[] = {"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                        "RandomUniformLike", "Bernoulli",     "Multinomial"};
constexpr std::string_view kDropout = "Dropout";

bool HasCandidates(const OnnxGraph& graph) {
  return std::ranges::any_of(graph.nodes, [](const OnnxNode& node) {
    return IsRandomOperator(node.op_type) || node.op_type == kDropout;
  });
}

bool HasCandidates(const OnnxContents& contents) {
  return HasCandidates(contents.graph) ||
         std::ranges::any_of(contents.subgraphs,
                             [](const OnnxGraph& body) { return HasCandidates(body); }) ||
         std::ranges::any_of(contents.functions, [](const OnnxFunction& function) {
           return HasCandidates(function.body);
         });
}

bool IsOfOnnx(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

int64_t OpsetOf(const OnnxFunction& function) {
  for (const OnnxOpset& opset : function.opsets) {
    if (IsOfOnnx(opset.domain)) return opset.version;
  }
  return 0;
}

// What is called by which name in a graph, and in the bodies within it. Where bodies beside each
// other use one name, both are meant.
struct NamedValues {
  struct Maker {
    const OnnxGraph* graph;
    const OnnxNode* node;
  };
  std::unordered_multimap<std::string_view, Maker> makers;
  std::unordered_multimap<std::string_view, const OnnxTensor*> initializers;

  void Add(const OnnxModel& model, const OnnxGraph& graph) {
    for (const OnnxTensor& tensor : graph.initializers) initializers.emplace(tensor.name, &tensor);
    for (const OnnxNode& node : graph.nodes) {
      for (const std::string_view output : graph.Outputs(node)) {
        if (!output.empty()) makers.emplace(output, Maker{&graph, &node});
      }
      for (const OnnxSubgraph& link : graph.Subgraphs(node)) Add(model, model.Subgraph(link));
    }
  }
};

class RandomSearch {
 public:
  RandomSearch(const OnnxModel& model, const ExternalDataOptions& options)
      : model_(model), options_(options), functions_(model) {}

  std::string Find(std::span<const std::string_view> outputs) {
    std::string found = FindIn(model_.graph(), model_.opset(), outputs);
    for (size_t i = 0; found.empty() && i < called_.size(); ++i) {
      const OnnxFunction& function = *called_[i];
      found = FindIn(function.body, OpsetOf(function), function.outputs);
    }
    return found;
  }

 private:
  std::string FindIn(const OnnxGraph& graph, int64_t opset,
                     std::span<const std::string_view> outputs) {
    NamedValues values;
    values.Add(model_, graph);
    std::vector<std::string_view> open(outputs.begin(), outputs.end());
    std::unordered_set<std::string_view> seen;
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      if (!seen.insert(name).second) continue;
      const auto [first, last] = values.makers.equal_range(name);
      for (auto at = first; at != last; ++at) {
        std::string found = Judge(at->second, opset, values);
        if (!found.empty()) return found;
        AddNeeded(at->second, open);
      }
    }
    return "";
  }

  // Notes the functions that are called.
  std::string Judge(const NamedValues::Maker& maker, int64_t opset, const NamedValues& values) {
    const OnnxNode& node = *maker.node;
    if (const OnnxFunction* const function = functions_.Find(node)) {
      if (std::ranges::find(called_, function) == called_.end()) called_.push_back(function);
      return "";
    }
    if (IsRandomOperator(node.op_type)) return std::string(node.op_type);
    const bool drops =
        node.op_type == kDropout && IsOfOnnx(node.domain) && DropsValues(maker, opset, values);
    return drops ? "Dropout in training mode" : "";
  }

  void AddNeeded(const NamedValues::Maker& maker, std::vector<std::string_view>& open) const {
    std::ranges::copy(maker.graph->Inputs(*maker.node), std::back_inserter(open));
    for (const OnnxSubgraph& link : maker.graph->Subgraphs(*maker.node)) {
      for (const OnnxValue& output : model_.Subgraph(link).outputs) open.push_back(output.name);
    }
  }

  // Before opset 7 is_test says so, from 12 on the third input; between them none drops anything.
  bool DropsValues(const NamedValues::Maker& maker, int64_t opset,
                   const NamedValues& values) const {
    if (opset < 7) return NodeAttributes(model_, *maker.node).Int("is_test", 0) == 0;
    const auto inputs = maker.graph->Inputs(*maker.node);
    if (opset < 12 || inputs.size() < 3 || inputs[2].empty()) return false;
    return !IsAlwaysFalse(inputs[2], values);
  }

  bool IsAlwaysFalse(std::string_view name, const NamedValues& values) const {
    const auto [first, last] = values.initializers.equal_range(name);
    const auto [first_made, last_made] = values.makers.equal_range(name);
    if (first == last && first_made == last_made) return false;
    return std::all_of(first, last, [&](const auto& known) { return IsFalse(*known.second); }) &&
           std::all_of(first_made, last_made,
                       [&](const auto& made) { return MakesFalse(*made.second.node); });
  }

  bool MakesFalse(const OnnxNode& node) const {
    if (node.op_type != "Constant" || functions_.Find(node) != nullptr) return false;
    NodeAttributes attributes(model_, node);
    const OnnxAttribute* const value = attributes.Find("value");
    return value != nullptr && value->tensor && IsFalse(*value->tensor);
  }

  bool IsFalse(const OnnxTensor& tensor) const {
    if (tensor.dtype != DType::kBool || tensor.split) return false;
    const Result<MappedWeight> weight = MapWeight(model_, tensor, options_);
    return weight.ok() && weight->values.bytes().size() == 1 &&
           weight->values.bytes().front() == std::byte{0};
  }

  const OnnxModel& model_;
  const ExternalDataOptions& options_;
  const FunctionTable functions_;
  std::vector<const OnnxFunction*> called_;
};

}  // namespace

bool IsRandomOperator(std::string_view op) {
  return std::ranges::find(kRandom, op) != std::end(kRandom);
}

std::string FindRandomOperator(const OnnxModel& model, std::span<const std::string_view> outputs,
                               const ExternalDataOptions& options) {
  if (!HasCandidates(model.contents())) return "";
  return RandomSearch(model, options).Find(outputs);
}

}  // namespace vernier
