#include "model/onnx_infer.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "model/function_table.h"
#include "model/onnx_attributes.h"
#include "model/onnx_infer_rules.h"
#include "model/onnx_order.h"
#include "model/operator_list.h"

namespace vernier {
namespace {

constexpr int32_t kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9;
constexpr int64_t kLargestRank = 64;
// Of calls within calls, and of calls with different arguments: a file may be made to have endless
// ones.
constexpr int kDeepestCall = 64;
constexpr size_t kMostCalls = 10'000;

struct Known {
  int32_t type = 0;
  std::optional<int64_t> rank;
  std::optional<int64_t> length;  // of a vector
};

Known FromDims(int32_t type, const Dims& dims) {
  Known known{type, static_cast<int64_t>(dims.size()), std::nullopt};
  if (dims.size() == 1) known.length = dims[0];
  return known;
}

Known FromValue(const OnnxValue& value) {
  if (value.kind != OnnxValueKind::kTensor) return {};
  const TensorInfo info = ToTensorInfo(value);
  Known known{value.onnx_type, std::nullopt, std::nullopt};
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

bool IsStandard(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

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
      if (IsStandard(function.domain)) rules_.erase(function.name);
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

  Known Find(std::string_view name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? Known() : found->second;
  }

 private:
  void Declare(const OnnxValue& value) {
    Known known = FromValue(value);
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
  int32_t TypeOf(char code, const OnnxNode& node, NodeAttributes& attributes) const;
  int32_t AttributeType(char code, const OnnxNode& node, NodeAttributes& attributes) const;
  int32_t ConstantType(NodeAttributes& attributes) const;
  std::optional<int64_t> ConstantRank(NodeAttributes& attributes) const;
  std::optional<int64_t> RankOf(char code, const OnnxNode& node, NodeAttributes& attributes) const;
  std::optional<int64_t> RankFromAxes(char code, const OnnxNode& node,
                                      NodeAttributes& attributes) const;
  std::optional<int64_t> ReducedRank(const OnnxNode& node, NodeAttributes& attributes) const;
  std::optional<int64_t> MatrixRank(const Known& a, const Known& b) const;
  std::optional<int64_t> BroadcastRank(const OnnxNode& node) const;
  std::optional<int64_t> LengthOf(const OnnxNode& node, NodeAttributes& attributes) const;

  Known Input(const OnnxNode& node, size_t index) const {
    const std::span<const std::string_view> inputs = graph_.Inputs(node);
    return index < inputs.size() ? Find(inputs[index]) : Known();
  }
  void Store(std::string_view name, const Known& inferred);

  const OnnxModel& model_;
  const OnnxGraph& graph_;
  CallTypes& calls_;
  std::unordered_map<std::string_view, Known> declared_;
  std::unordered_map<std::string_view, Known> known_;
};

void Inference::Store(std::string_view name, const Known& inferred) {
  if (name.empty()) return;
  Known known = inferred;
  if (known.rank && (*known.rank < 0 || *known.rank > kLargestRank)) known.rank.reset();
  const auto declared = declared_.find(name);
  if (declared != declared_.end()) {
    known.type = declared->second.type;
    if (declared->second.rank) known.rank = declared->second.rank;
    if (declared->second.length) known.length = declared->second.length;
  }
  known_[name] = known;
}

int32_t Inference::ConstantType(NodeAttributes& attributes) const {
  if (const OnnxAttribute* value = attributes.Find("value")) {
    return value->tensor ? value->tensor->onnx_type : 0;
  }
  for (const auto& [name, type] : {std::pair("value_float", kFloat),
                                   {"value_floats", kFloat},
                                   {"value_int", kInt64},
                                   {"value_ints", kInt64},
                                   {"value_string", kString},
                                   {"value_strings", kString}}) {
    if (attributes.Find(name) != nullptr) return type;
  }
  return 0;
}

int32_t Inference::AttributeType(char code, const OnnxNode& node,
                                 NodeAttributes& attributes) const {
  const auto number = [&](std::string_view name, int64_t fallback) {
    return static_cast<int32_t>(attributes.Int(name, fallback));
  };
  switch (code) {
    case 'A':
      return number("to", 0);
    case 'B':
      return number("dtype", Input(node, 0).type);
    case 'F':
      return number("dtype", kFloat);
    case 'M':
      return number("dtype", kInt32);
    case 'T':
      return number("stash_type", kFloat);
    case 'W':
      return number("output_datatype", kFloat);
    case 'K':
      return ConstantType(attributes);
    case 'S': {
      const OnnxAttribute* value = attributes.Find("value");
      return value == nullptr ? kFloat : value->tensor ? value->tensor->onnx_type : 0;
    }
    case 'Q': {
      const bool zero_point = node.input_count > 2 && !graph_.Inputs(node)[2].empty();
      if (zero_point) return Input(node, 2).type;
      const int32_t type = number("output_dtype", 0);
      return type != 0 ? type : kUint8;
    }
    case 'D': {
      const int32_t type = number("output_dtype", 0);
      if (type != 0) return type;
      return model_.opset() < 19 ? kFloat : Input(node, 1).type;
    }
    default:
      return 0;
  }
}

int32_t Inference::TypeOf(char code, const OnnxNode& node, NodeAttributes& attributes) const {
  if (code >= '0' && code <= '9') return Input(node, static_cast<size_t>(code - '0')).type;
  switch (code) {
    case 'b':
      return kBool;
    case 'i':
      return kInt64;
    case 'w':
      return kInt32;
    case 'f':
      return kFloat;
    case 'u':
      return kUint8;
    case 's':
      return kString;
    default:
      return AttributeType(code, node, attributes);
  }
}

std::optional<int64_t> Inference::MatrixRank(const Known& a, const Known& b) const {
  if (!a.rank || !b.rank || *a.rank < 1 || *b.rank < 1) return std::nullopt;
  if (*a.rank == 1 && *b.rank == 1) return 0;
  if (*a.rank == 1) return *b.rank - 1;
  if (*b.rank == 1) return *a.rank - 1;
  return std::max(*a.rank, *b.rank);
}

std::optional<int64_t> Inference::BroadcastRank(const OnnxNode& node) const {
  int64_t rank = 0;
  for (const std::string_view name : graph_.Inputs(node)) {
    const Known input = Find(name);
    if (!input.rank) return std::nullopt;
    rank = std::max(rank, *input.rank);
  }
  return rank;
}

std::optional<int64_t> Inference::ReducedRank(const OnnxNode& node,
                                              NodeAttributes& attributes) const {
  const std::optional<int64_t> rank = Input(node, 0).rank;
  if (!rank || attributes.Int("keepdims", 1) != 0) return rank;
  if (const OnnxAttribute* axes = attributes.Find("axes")) {
    return *rank - static_cast<int64_t>(axes->ints.size());
  }
  if (node.input_count > 1 && !graph_.Inputs(node)[1].empty()) {
    const std::optional<int64_t> count = Input(node, 1).length;
    // An empty list of axes may mean all of them or none.
    return count && *count > 0 ? std::optional(*rank - *count) : std::nullopt;
  }
  if (attributes.Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
  return 0;
}

std::optional<int64_t> Inference::RankFromAxes(char code, const OnnxNode& node,
                                               NodeAttributes& attributes) const {
  const std::optional<int64_t> rank = Input(node, 0).rank;
  std::optional<int64_t> count = Input(node, 1).length;
  if (const OnnxAttribute* axes = attributes.Find("axes")) {
    count = static_cast<int64_t>(axes->ints.size());
  }
  if (!rank || !count) return std::nullopt;
  return code == 's' ? *rank - *count : *rank + *count;
}

std::optional<int64_t> Inference::ConstantRank(NodeAttributes& attributes) const {
  const OnnxAttribute* value = attributes.Find("value");
  if (value != nullptr && value->tensor) return static_cast<int64_t>(value->tensor->dims.size());
  for (const char* list : {"value_ints", "value_floats", "value_strings"}) {
    if (attributes.Find(list) != nullptr) return 1;
  }
  for (const char* scalar : {"value_int", "value_float", "value_string"}) {
    if (attributes.Find(scalar) != nullptr) return 0;
  }
  return std::nullopt;
}

std::optional<int64_t> Inference::RankOf(char code, const OnnxNode& node,
                                         NodeAttributes& attributes) const {
  if (code >= '0' && code <= '9') return Input(node, static_cast<size_t>(code - '0')).rank;
  if (code >= 'a' && code <= 'e') return code - 'a';
  const Known first = Input(node, 0);
  const Known second = Input(node, 1);
  const auto list_size = [&](std::string_view name) -> std::optional<int64_t> {
    const OnnxAttribute* list = attributes.Find(name);
    return list ? std::optional(static_cast<int64_t>(list->ints.size())) : std::nullopt;
  };
  switch (code) {
    case '+':
      return BroadcastRank(node);
    case 'm':
      return MatrixRank(first, second);
    case 'q':
      return MatrixRank(first, Input(node, 3));
    case 'g':
      return first.rank && second.rank ? std::optional(*first.rank + *second.rank - 1)
                                       : std::nullopt;
    case 'r':
      return node.input_count > 1 ? second.length : list_size("shape");
    case 'x':
      return first.rank && second.length ? std::optional(std::max(*first.rank, *second.length))
                                         : std::nullopt;
    case 's':
    case 'u':
      return RankFromAxes(code, node, attributes);
    case 'R':
      return ReducedRank(node, attributes);
    case 'n':
      return first.rank && attributes.Int("keepdims", 1) == 0 ? std::optional(*first.rank - 1)
                                                              : first.rank;
    case 'o':
      return first.rank ? std::optional(*first.rank + 1) : std::nullopt;
    case 'l':
      return first.length;
    case 'p':
      return list_size("shape");
    case 'K':
      return ConstantRank(attributes);
    default:
      return std::nullopt;
  }
}

// Lengths matter for the vectors that shapes are computed with.
std::optional<int64_t> Inference::LengthOf(const OnnxNode& node, NodeAttributes& attributes) const {
  const Known first = Input(node, 0);
  if (node.op_type == "Shape") {
    const bool part = attributes.Find("start") != nullptr || attributes.Find("end") != nullptr;
    return part ? std::nullopt : first.rank;
  }
  if (node.op_type == "Constant") {
    const OnnxAttribute* value = attributes.Find("value");
    if (value != nullptr && value->tensor && value->tensor->dims.size() == 1) {
      return value->tensor->dims[0];
    }
    const OnnxAttribute* ints = attributes.Find("value_ints");
    return ints ? std::optional(static_cast<int64_t>(ints->ints.size())) : std::nullopt;
  }
  if (node.op_type == "Concat") {
    int64_t sum = 0;
    for (const std::string_view name : graph_.Inputs(node)) {
      const std::optional<int64_t> length = Find(name).length;
      if (!length || *length < 0 || *length > kLargestRank) return std::nullopt;
      sum += *length;
    }
    return sum;
  }
  if (node.op_type == "Unsqueeze" && first.rank == 0) return 1;
  if (node.op_type == "Cast" || node.op_type == "Identity") return first.length;
  return std::nullopt;
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
    std::optional<Known> agreed;
    for (const OnnxSubgraph& link : bodies) {
      const std::vector<OnnxValue>& results = model_.Subgraph(link).outputs;
      Known known = i + skipped < results.size() ? FromValue(results[i + skipped]) : Known();
      if (agreed && agreed->type != known.type) known.type = 0;
      if (agreed && agreed->rank != known.rank) known.rank.reset();
      agreed = Known{known.type, known.rank, std::nullopt};
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

void Inference::Visit(const OnnxNode& node) {
  if (const OnnxFunction* function = calls_.Find(node)) return VisitCall(node, *function);
  if (!IsStandard(node.domain)) return;
  if (node.op_type == "If" || node.op_type == "Loop" ||
      (node.op_type == "Scan" && model_.opset() >= 9)) {
    return VisitControlFlow(node);
  }
  const InferRule* rule = calls_.RuleOf(node.op_type);
  if (rule == nullptr) return;
  std::string_view types = rule->types;
  if (node.op_type == "Dropout") types = model_.opset() < 10 ? "0" : "0b";
  NodeAttributes attributes(model_, node);
  const std::string_view ranks = rule->ranks;
  const std::span<const std::string_view> outputs = graph_.Outputs(node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    Known known;
    known.type = TypeOf(types[std::min(i, types.size() - 1)], node, attributes);
    known.rank = RankOf(ranks[std::min(i, ranks.size() - 1)], node, attributes);
    if (known.rank == 1) known.length = LengthOf(node, attributes);
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
  const bool endless = depth_ >= kDeepestCall || known_.size() >= most;
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
    const Known known = inference.Find(name);
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
