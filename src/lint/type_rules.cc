// Element types: what nodes take, what they make, and what the model declares.
#include <array>
#include <bit>
#include <unordered_map>

#include "lint/rule_groups.h"
#include "model/onnx/onnx_order.h"
#include "model/shapes/onnx_infer.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// TensorProto.DataType from 0 on, as ONNX's own messages spell it.
constexpr std::array<std::string_view, 24> kTypeNames = {
    "undefined",      "float",      "uint8",          "int8",       "uint16",   "int16",
    "int32",          "int64",      "string",         "bool",       "float16",  "double",
    "uint32",         "uint64",     "complex64",      "complex128", "bfloat16", "float8e4m3fn",
    "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",     "float4e2m1"};

std::string TypeName(int32_t type) {
  const auto index = static_cast<size_t>(type);
  return "tensor(" +
         (index < kTypeNames.size() ? std::string(kTypeNames[index]) : std::to_string(type)) + ")";
}

class TypeCheck {
 public:
  explicit TypeCheck(const LintSubject& subject) : subject_(subject), inference_(subject.model) {}

  void Graph(const OnnxGraph& graph, const LintNode* owner, const ValueTypes& outer) {
    // What the rules below do not give (Cast, Constant, bodies) is taken from there.
    ValueTypes types = inference_.OfGraph(graph, outer);
    const ValueTypes declared = Declared(graph);
    for (const uint32_t i : Order(graph, owner)) {
      const LintNode at{graph, graph.nodes[i], owner == nullptr ? i : owner->top, owner != nullptr};
      Node(at, declared, types);
      for (const OnnxSubgraph& link : graph.Subgraphs(at.node)) {
        Graph(subject_.model.Subgraph(link), &at, types);
      }
    }
  }

 private:
  using Bindings = std::unordered_map<size_t, int32_t>;  // of the operator's type names

  static ValueTypes Declared(const OnnxGraph& graph) {
    ValueTypes declared;
    for (const auto* values : {&graph.value_info, &graph.outputs}) {
      for (const OnnxValue& value : *values) {
        if (value.kind == OnnxValueKind::kTensor) declared[value.name] = value.onnx_type;
      }
    }
    return declared;
  }

  std::vector<uint32_t> Order(const OnnxGraph& graph, const LintNode* owner) const {
    if (owner == nullptr) {
      Result<std::vector<uint32_t>> sorted = TopologicalOrder(subject_.model);
      if (sorted.ok()) return *std::move(sorted);
    }
    std::vector<uint32_t> order(graph.nodes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    return order;
  }

  void Node(const LintNode& at, const ValueTypes& declared, ValueTypes& types) {
    const OperatorVersion* version = subject_.Operator(at.node);
    if (version == nullptr) return;
    Bindings bound;
    if (!Inputs(at, *version, types, bound)) return;
    const auto outputs = at.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const OperatorPlace* place = OperatorVersion::At(version->outputs, i);
      if (outputs[i].empty() || place == nullptr) continue;
      const int32_t made = Made(*version, *place, bound);
      if (made == 0) continue;
      CheckDeclared(at, outputs[i], made, declared);
      types[outputs[i]] = made;
    }
  }

  // False when a type does not fit: what the node makes is then not known.
  bool Inputs(const LintNode& at, const OperatorVersion& version, const ValueTypes& types,
              Bindings& bound) {
    const auto inputs = at.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const OperatorPlace* place = OperatorVersion::At(version.inputs, i);
      const auto found = types.find(inputs[i]);
      if (inputs[i].empty() || place == nullptr || found == types.end()) continue;
      const int32_t type = found->second;
      if (!subject_.table.KnowsType(type)) continue;
      const OperatorType& formal = version.types[place->type];
      if ((formal.types >> type & 1) == 0) return Refuse(at, type, i);
      if (place->mixed) continue;
      const auto [first, added] = bound.emplace(place->type, type);
      if (!added && first->second != type) return Conflict(at, formal.name, first->second, type);
    }
    return true;
  }

  bool Refuse(const LintNode& at, int32_t type, size_t input) {
    subject_.findings.Add(lint_rule::kTypeMismatch,
                          "Type '" + TypeName(type) + "' of input parameter (" +
                              std::string(at.inputs()[input]) + ") of operator (" +
                              std::string(at.node.op_type) + ") in node (" +
                              std::string(at.node.name) + ") is invalid.",
                          at);
    return false;
  }

  bool Conflict(const LintNode& at, std::string_view formal, int32_t first, int32_t second) {
    subject_.findings.Add(lint_rule::kTypeMismatch,
                          "Type parameter (" + std::string(formal) + ") of Optype (" +
                              std::string(at.node.op_type) + ") bound to different types (" +
                              TypeName(first) + " and " + TypeName(second) + " in node (" +
                              std::string(at.node.name) + ").",
                          at);
    return false;
  }

  // 0 where the definition alone does not say.
  static int32_t Made(const OperatorVersion& version, const OperatorPlace& place,
                      const Bindings& bound) {
    const TypeSet types = version.types[place.type].types;
    if (std::has_single_bit(types) && types != kNotATensor) return std::countr_zero(types);
    const auto found = bound.find(place.type);
    return place.mixed || found == bound.end() ? 0 : found->second;
  }

  void CheckDeclared(const LintNode& at, std::string_view output, int32_t made,
                     const ValueTypes& declared) {
    const auto declared_as = declared.find(output);
    if (declared_as == declared.end() || declared_as->second == made) return;
    if (!subject_.table.KnowsType(declared_as->second)) return;
    subject_.findings.Add(lint_rule::kDeclaredType,
                          "Type (" + TypeName(declared_as->second) + ") of output arg (" +
                              std::string(output) + ") of node (" + std::string(at.node.name) +
                              ") does not match expected type (" + TypeName(made) + ").",
                          at);
  }

  const LintSubject& subject_;
  TypeInference inference_;
};

}  // namespace

void CheckTypes(const LintSubject& subject) {
  TypeCheck(subject).Graph(subject.model.graph(), nullptr, {});
}

}  // namespace vernier
