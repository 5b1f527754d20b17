#include "graph_tensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace vernier::tf {
namespace {

constexpr std::array<std::string_view, 12> kNoOutputOps = {
    "Switch", "FusedBatchNorm", "Assert",         "NextIteration",      "Enter", "LoopCond", "Exit",
    "Print",  "Assign",         "ReadVariableOp", "VarIsInitializedOp", "Const"};
constexpr std::array<std::string_view, 2> kNoOutputScopes = {"while", "Assert"};

// Values of these exist in some branch or round of the graph only.
constexpr std::array<std::string_view, 6> kControlFlowOps = {"Switch", "Merge",         "Enter",
                                                             "Exit",   "NextIteration", "LoopCond"};

template <size_t N>
bool ContainsAny(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// Within the scope of a loop: "while/", "while_1/", also in other scopes.
bool IsWithinLoop(std::string_view name) {
  constexpr std::string_view kLoop = "while";
  for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
    std::string_view scope = name.substr(0, slash);
    name.remove_prefix(slash + 1);
    if (!scope.starts_with(kLoop)) continue;
    scope.remove_prefix(kLoop.size());
    const bool numbered = scope.size() > 1 && scope.front() == '_' &&
                          scope.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (scope.empty() || numbered) return true;
  }
  return false;
}

template <typename Visit>
void ForEachOperation(const Api& api, TF_Graph* graph, const GraphRules& rules, Visit visit) {
  size_t position = 0;
  while (TF_Operation* operation = api.TF_GraphNextOperation(graph, &position)) {
    const std::string_view name = api.TF_OperationName(operation);
    if (!rules.saver_scope.empty() && name.starts_with(rules.saver_scope)) continue;
    visit(operation, name, std::string_view(api.TF_OperationOpType(operation)));
  }
}

bool HasConsumers(const Api& api, TF_Operation* operation) {
  if (api.TF_OperationNumControlOutputs(operation) > 0) return true;
  for (int i = 0; i < api.TF_OperationNumOutputs(operation); ++i) {
    if (api.TF_OperationOutputNumConsumers({operation, i}) > 0) return true;
  }
  return false;
}

bool HasInputs(const Api& api, TF_Operation* operation) {
  return api.TF_OperationNumInputs(operation) + api.TF_OperationNumControlInputs(operation) > 0;
}

// The numbers of reference types are those of the types and a hundred.
TF_DataType TypeOf(const Api& api, TF_Output output) {
  const TF_DataType type = api.TF_OperationOutputType(output);
  return type > 100 ? type - 100 : type;
}

std::string Nearest(const Api& api, TF_Graph* graph, std::string_view wanted) {
  std::string best;
  ForEachOperation(api, graph, {}, [&](TF_Operation* operation, std::string_view name, auto) {
    if (api.TF_OperationNumOutputs(operation) == 0) return;
    const bool close =
        name.find(wanted) != std::string_view::npos || wanted.find(name) != std::string_view::npos;
    if (close && (best.empty() || name.size() < best.size())) best = name;
  });
  return best.empty() ? "" : "; did you mean '" + best + ":0'?";
}

}  // namespace

std::string TensorName(const Api& api, TF_Output output) {
  return std::string(api.TF_OperationName(output.oper)) + ":" + std::to_string(output.index);
}

Result<TF_Output> FindTensor(const Api& api, TF_Graph* graph, std::string_view name) {
  std::string_view operation = name;
  int index = 0;
  if (const size_t colon = name.rfind(':'); colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error == std::errc() && end == digits.data() + digits.size()) {
      operation = name.substr(0, colon);
    } else {
      index = 0;
    }
  }
  TF_Operation* found = api.TF_GraphOperationByName(graph, std::string(operation).c_str());
  if (found == nullptr) {
    return NotFound("the graph has no tensor '" + std::string(name) + "'" +
                    Nearest(api, graph, operation));
  }
  const int count = api.TF_OperationNumOutputs(found);
  if (index < 0 || index >= count) {
    return NotFound("the graph has no tensor '" + std::string(name) + "': operation '" +
                    std::string(operation) + "' has " + std::to_string(count) + " outputs");
  }
  return TF_Output{found, index};
}

GraphTensor Describe(const Api& api, TF_Graph* graph, TF_Output output, std::string name) {
  GraphTensor tensor;
  tensor.output = output;
  tensor.type = TypeOf(api, output);
  tensor.spec.name = std::move(name);
  tensor.spec.dtype = FromTf(tensor.type);
  if (tensor.spec.dtype == DType::kUndefined) tensor.spec.skipped = TfTypeName(tensor.type);
  const Outcome outcome(api);
  const int rank = api.TF_GraphGetTensorNumDims(graph, output, outcome.get());
  tensor.spec.rank_known = outcome.ok() && rank >= 0;
  if (!tensor.spec.rank_known) return tensor;
  tensor.spec.shape.resize(static_cast<size_t>(rank));
  api.TF_GraphGetTensorShape(graph, output, tensor.spec.shape.data(), rank, outcome.get());
  return tensor;
}

std::vector<GraphTensor> FindInputs(const Api& api, TF_Graph* graph, const GraphRules& rules) {
  std::vector<GraphTensor> inputs;
  ForEachOperation(api, graph, rules,
                   [&](TF_Operation* operation, std::string_view, std::string_view type) {
                     if (type.find("Placeholder") == std::string_view::npos) return;
                     const TF_Output output{operation, 0};
                     inputs.push_back(Describe(api, graph, output, TensorName(api, output)));
                   });
  return inputs;
}

std::vector<GraphTensor> FindOutputs(const Api& api, TF_Graph* graph, const GraphRules& rules) {
  std::vector<GraphTensor> outputs;
  ForEachOperation(api, graph, rules,
                   [&](TF_Operation* operation, std::string_view name, std::string_view type) {
                     if (HasConsumers(api, operation) || !HasInputs(api, operation) ||
                         type.find("NoOp") != std::string_view::npos ||
                         ContainsAny(type, kNoOutputOps) || ContainsAny(name, kNoOutputScopes) ||
                         api.TF_OperationNumOutputs(operation) == 0) {
                       return;
                     }
                     const TF_Output output{operation, 0};
                     outputs.push_back(Describe(api, graph, output, TensorName(api, output)));
                   });
  return outputs;
}

std::vector<GraphTensor> AllTensors(const Api& api, TF_Graph* graph, const GraphRules& rules,
                                    std::vector<sdk::NotExposed>& not_exposed) {
  std::vector<GraphTensor> tensors;
  ForEachOperation(
      api, graph, rules,
      [&](TF_Operation* operation, std::string_view name, std::string_view type) {
        const bool inside = ContainsAny(type, kControlFlowOps) || IsWithinLoop(name);
        const bool trains = type.starts_with("FusedBatchNorm");
        for (int i = 0; i < api.TF_OperationNumOutputs(operation); ++i) {
          const TF_Output output{operation, i};
          GraphTensor tensor = Describe(api, graph, output, TensorName(api, output));
          if (inside) {
            not_exposed.push_back({tensor.spec.name, "a value inside of control flow"});
          } else if (trains && i > 0) {
            not_exposed.push_back({tensor.spec.name, "defined in training only"});
          } else if (!tensor.spec.skipped.empty()) {
            not_exposed.push_back({tensor.spec.name, "no tensor, but a " + tensor.spec.skipped});
          } else {
            tensors.push_back(std::move(tensor));
          }
        }
      });
  return tensors;
}

std::string PrecisionOf(const Api& api, TF_Graph* graph) {
  std::set<std::string> types;
  ForEachOperation(api, graph, {}, [&](TF_Operation* operation, auto, auto) {
    for (int i = 0; i < api.TF_OperationNumOutputs(operation); ++i) {
      const DType dtype = FromTf(TypeOf(api, {operation, i}));
      if (Kind(dtype) == DTypeKind::kFloat) types.emplace(DTypeName(dtype));
    }
  });
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : "+") + type;
  return text.empty() ? "integers" : text;
}

}  // namespace vernier::tf
