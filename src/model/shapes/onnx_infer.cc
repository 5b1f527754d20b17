#include "model/shapes/onnx_infer.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "model/onnx/function_table.h"
#include "model/onnx/onnx_attributes.h"
#include "model/onnx/onnx_order.h"
#include "model/onnx/operator_list.h"
#include "model/shapes/ml_types.h"
#include "model/shapes/onnx_infer_codes.h"
#include "model/shapes/onnx_infer_rules.h"

namespace vernier {
namespace {

// Of calls within calls, and of calls with different arguments: a file may be made to have endless
// ones.
constexpr int kDeepestInferredCall = 64;
constexpr size_t kMostCalls = 10'000;

KnownValue FromDims(int32_t type, const Dims& dims) {
  KnownValue known{type, static_cast<int64_t>(dims.size()), std::nullopt};
  if (dims.size() == 1) known.length = dims[0];
  return known;
}

KnownValue FromValue(const OnnxValue& value) {
  if (value.kind != OnnxValueKind::kTensor) return {};
  const TensorInfo info = ToTensorInfo(value);
  KnownValue known{value.onnx_type, std::nullopt, std::nullopt};
  if (!info.shape) return known;
  known.rank = static_cast<int64_t>(info.shape->size());
  if (info.shape->size() == 1 && !info.shape->front().dynamic()) {
    known.length = info.shape->front().value;
  }
  return known;
}

ValueTypes ArgumentTypes(const OnnxFunction& function, std::span<const int32_t> arguments) {
  ValueTypes types;
  for (size_t i = 0; i < std::min(arguments.size(), function.inputs.size()); ++i) {
    types[function.inputs[i]] = arguments[i];
  }
  return types;
}

bool IsStandardDomain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

}  // namespace

// What calls of model-local functions give, and which rules operators have: a model may have
// thousands of functions, so this is made once for all of them.
class CallTypes {
 public:
  explicit CallTypes(const OnnxModel& model) : model_(model), functions_(model) {
    for (const InferRule& rule : kInferRules) {
      ForEachOperator(rule.operators, [&](std::string_view name) { rules_.emplace(name, &rule); });
    }
    for (const OnnxFunction& function : model.contents().functions) {
      if (IsStandardDomain(function.domain)) rules_.erase(function.name);
    }
  }

  const OnnxModel& model() const { return model_; }
  const OnnxFunction* Find(const OnnxNode& node) const { return functions_.Find(node); }

  /// nullptr: there is none.
  const InferRule* RuleOf(std::string_view op_type) const {
    const auto found = rules_.find(op_type);
    return found == rules_.end() ? nullptr : found->second;
  }

  /// The types of the function's outputs, or nothing.
  const std::vector<int32_t>& Of(const OnnxFunction& function, std::vector<int32_t> arguments);

 private:
  const OnnxModel& model_;
  FunctionTable functions_;
  std::unordered_map<std::string_view, const InferRule*> rules_;
  std::map<std::pair<const OnnxFunction*, std::vector<int32_t>>, std::vector<int32_t>> known_;
  std::vector<int32_t> unknown_;
  int depth_ = 0;
};

namespace {

class Inference {
 public:
  Inference(const OnnxGraph& graph, const ValueTypes& outer, CallTypes& calls)
      : model_(calls.model()), graph_(graph), calls_(calls) {
    for (const OnnxTensor& tensor : graph_.initializers) {
      declared_[tensor.name] = FromDims(tensor.onnx_type, tensor.dims);
    }
    // The graph's own signature counts more than annotations inside.
    for (const auto* values : {&graph_.value_info, &graph_.inputs, &graph_.outputs}) {
      for (const OnnxValue& value : *values) Declare(value);
    }
    for (const auto& [name, type] : outer) known_[name].type = type;
    for (const auto& [name, known] : declared_) known_[name] = known;
  }

  void Run(const std::vector<uint32_t>& order) {
    for (const uint32_t index : order) Visit(graph_.nodes[index]);
  }

  ValueTypes Types() const {
    ValueTypes types;
    for (const auto& [name, known] : known_) types.emplace(name, known.type);
    return types;
  }

  KnownValue Find(std::string_view name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? KnownValue() : found->second;
  }

 private:
  void Declare(const OnnxValue& value) {
    KnownValue known = FromValue(value);
    if (known.type == 0) return;
    const auto place = declared_.find(value.name);
    // An initializer's dims are exact, a declaration may be vaguer.
    if (place != declared_.end() && !known.rank) known.rank = place->second.rank;
    if (place != declared_.end() && !known.length) known.length = place->second.length;
    declared_[value.name] = known;
  }

  void Visit(const OnnxNode& node);
  void VisitCall(const OnnxNode& node, const OnnxFunction& function);
  void VisitControlFlow(const OnnxNode& node);
  void VisitMl(const OnnxNode& node);
  std::span<const KnownValue> InputsOf(const OnnxNode& node);
  void Store(std::string_view name, const KnownValue& inferred);

  const OnnxModel& model_;
  const OnnxGraph& graph_;
  CallTypes& calls_;
  std::unordered_map<std::string_view, KnownValue> declared_;
  std::unordered_map<std::string_view, KnownValue> known_;
  std::vector<KnownValue> inputs_;  // of the node that is visited
};

std::span<const KnownValue> Inference::InputsOf(const OnnxNode& node) {
  inputs_.clear();
  for (const std::string_view name : graph_.Inputs(node)) inputs_.push_back(Find(name));
  return inputs_;
}

void Inference::Store(std::string_view name, const KnownValue& inferred) {
  if (name.empty()) return;
  KnownValue known = inferred;
  if (known.rank && (*known.rank < 0 || *known.rank > kLargestRank)) known.rank.reset();
  const auto declared = declared_.find(name);
  if (declared != declared_.end()) {
    known.type = declared->second.type;
    if (declared->second.rank) known.rank = declared->second.rank;
    if (declared->second.length) known.length = declared->second.length;
  }
  known_[name] = known;
}

// Outputs of If, Loop and Scan have the types that their bodies declare.
void Inference::VisitControlFlow(const OnnxNode& node) {
  const std::span<const OnnxSubgraph> bodies = graph_.Subgraphs(node);
  if (bodies.empty()) return;
  const bool loop = node.op_type == "Loop";
  const bool scan = node.op_type == "Scan";
  NodeAttributes attributes(model_, node);
  const int64_t carried = loop   ? int64_t{node.input_count} - 2
                          : scan ? int64_t{node.input_count} - attributes.Int("num_scan_inputs", 0)
                                 : INT64_MAX;
  const size_t skipped = loop ? 1 : 0;  // the body's first output is the condition
  const std::span<const std::string_view> outputs = graph_.Outputs(node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::optional<KnownValue> agreed;
    for (const OnnxSubgraph& link : bodies) {
      const std::vector<OnnxValue>& results = model_.Subgraph(link).outputs;
      KnownValue known =
          i + skipped < results.size() ? FromValue(results[i + skipped]) : KnownValue();
      if (agreed && agreed->type != known.type) known.type = 0;
      if (agreed && agreed->rank != known.rank) known.rank.reset();
      agreed = KnownValue{known.type, known.rank, std::nullopt};
    }
    if (agreed->rank && static_cast<int64_t>(i) >= carried) ++*agreed->rank;
    Store(outputs[i], *agreed);
  }
}

void Inference::VisitCall(const OnnxNode& node, const OnnxFunction& function) {
  std::vector<int32_t> arguments;
  for (const std::string_view name : graph_.Inputs(node)) arguments.push_back(Find(name).type);
  const std::vector<int32_t>& types = calls_.Of(function, std::move(arguments));
  const std::span<const std::string_view> outputs = graph_.Outputs(node);
  for (size_t i = 0; i < std::min(outputs.size(), types.size()); ++i) {
    Store(outputs[i], {types[i], std::nullopt, std::nullopt});
  }
}

void Inference::VisitMl(const OnnxNode& node) {
  NodeAttributes attributes(model_, node);
  const NodeFacts facts{node, graph_.Inputs(node), InputsOf(node), attributes, model_.opset()};
  const std::span<const std::string_view> outputs = graph_.Outputs(node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    Store(outputs[i], {MlTypeOf(facts, i), std::nullopt, std::nullopt});
  }
}

void Inference::Visit(const OnnxNode& node) {
  if (const OnnxFunction* function = calls_.Find(node)) return VisitCall(node, *function);
  if (node.domain == "ai.onnx.ml") return VisitMl(node);
  if (!IsStandardDomain(node.domain)) return;
  if (node.op_type == "If" || node.op_type == "Loop" ||
      (node.op_type == "Scan" && model_.opset() >= 9)) {
    return VisitControlFlow(node);
  }
  const InferRule* rule = calls_.RuleOf(node.op_type);
  if (rule == nullptr) return;
  std::string_view types = rule->types;
  if (node.op_type == "Dropout") types = model_.opset() < 10 ? "0" : "0b";
  NodeAttributes attributes(model_, node);
  const NodeFacts facts{node, graph_.Inputs(node), InputsOf(node), attributes, model_.opset()};
  const std::string_view ranks = rule->ranks;
  const std::span<const std::string_view> outputs = graph_.Outputs(node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    KnownValue known;
    known.type = TypeByCode(types[std::min(i, types.size() - 1)], facts);
    known.rank = RankByCode(ranks[std::min(i, ranks.size() - 1)], facts);
    if (known.rank == 1) known.length = VectorLength(facts);
    Store(outputs[i], known);
  }
}

std::vector<uint32_t> FileOrder(const OnnxGraph& graph) {
  std::vector<uint32_t> order(graph.nodes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  return order;
}

}  // namespace

const std::vector<int32_t>& CallTypes::Of(const OnnxFunction& function,
                                          std::vector<int32_t> arguments) {
  const auto key = std::pair(&function, std::move(arguments));
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const size_t most = kMostCalls + model_.contents().functions.size();
  const bool endless = depth_ >= kDeepestInferredCall || known_.size() >= most;
  if (endless || !HasOpsetOf(model_, function)) return unknown_;
  // Nothing, for as long as it calls itself.
  std::vector<int32_t>& outputs = known_[key];
  ++depth_;
  Inference body(function.body, ArgumentTypes(function, key.second), *this);
  body.Run(FileOrder(function.body));
  --depth_;
  std::vector<int32_t> types;
  for (const std::string_view name : function.outputs) types.push_back(body.Find(name).type);
  outputs = std::move(types);
  return outputs;
}

std::vector<InferredType> InferTypes(const OnnxModel& model,
                                     std::span<const std::string_view> names) {
  const std::vector<uint32_t> order = FileOrder(model.graph());
  CallTypes calls(model);
  Inference inference(model.graph(), {}, calls);
  inference.Run(order);
  const auto complete = [&] {
    return std::all_of(names.begin(), names.end(),
                       [&](std::string_view name) { return inference.Find(name).type != 0; });
  };
  if (!complete()) {
    const Result<std::vector<uint32_t>> sorted = TopologicalOrder(model);
    if (sorted.ok() && *sorted != order) inference.Run(*sorted);
  }
  std::vector<InferredType> types;
  for (const std::string_view name : names) {
    const KnownValue known = inference.Find(name);
    InferredType type{.onnx_type = known.type, .rank = std::nullopt};
    if (known.rank) type.rank = static_cast<int>(*known.rank);
    types.push_back(type);
  }
  return types;
}

TypeInference::TypeInference(const OnnxModel& model) : calls_(std::make_unique<CallTypes>(model)) {}

TypeInference::~TypeInference() = default;

ValueTypes TypeInference::OfGraph(const OnnxGraph& graph, const ValueTypes& outer) {
  const std::vector<uint32_t> order = FileOrder(graph);
  Inference inference(graph, outer, *calls_);
  inference.Run(order);
  if (&graph == &calls_->model().graph()) {
    const Result<std::vector<uint32_t>> sorted = TopologicalOrder(calls_->model());
    if (sorted.ok() && *sorted != order) inference.Run(*sorted);
  }
  return inference.Types();
}

ValueTypes TypeInference::OfBody(const OnnxGraph& graph, const OnnxNode& node,
                                 const OnnxGraph& body, const ValueTypes& types) {
  ValueTypes outer = types;
  const std::span<const std::string_view> inputs = graph.Inputs(node);
  const size_t given = node.op_type == "If" ? 0 : std::min(inputs.size(), body.inputs.size());
  for (size_t i = 0; i < given; ++i) {
    const auto found = types.find(inputs[i]);
    outer[body.inputs[i].name] = found == types.end() ? 0 : found->second;
  }
  return OfGraph(body, outer);
}

ValueTypes TypeInference::OfFunction(const OnnxFunction& function,
                                     std::span<const int32_t> arguments) {
  if (!HasOpsetOf(calls_->model(), function)) return {};
  return OfGraph(function.body, ArgumentTypes(function, arguments));
}

ValueTypes InferGraphTypes(const OnnxModel& model, const OnnxGraph& graph,
                           const ValueTypes& outer) {
  return TypeInference(model).OfGraph(graph, outer);
}

ValueTypes InferBodyTypes(const OnnxModel& model, const OnnxGraph& graph, const OnnxNode& node,
                          const OnnxGraph& body, const ValueTypes& types) {
  return TypeInference(model).OfBody(graph, node, body, types);
}

}  // namespace vernier
