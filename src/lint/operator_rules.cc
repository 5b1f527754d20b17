// Whether operators exist in the imported opset, and whether nodes use them as defined.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "lint/rule_groups.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// AttributeProto.AttributeType, from 0 on.
constexpr std::array<std::string_view, 15> kAttributeTypes = {
    "UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
    "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
    "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

std::string AttributeTypeName(int32_t type) {
  const auto index = static_cast<size_t>(type);
  return index < kAttributeTypes.size() ? std::string(kAttributeTypes[index])
                                        : std::to_string(type);
}

bool IsFunction(const OnnxModel& model, const OnnxNode& node) {
  const auto& functions = model.contents().functions;
  return std::any_of(functions.begin(), functions.end(), [&](const OnnxFunction& function) {
    return function.name == node.op_type &&
           OperatorTable::Domain(function.domain) == OperatorTable::Domain(node.domain);
  });
}

// What ONNX Runtime has in ONNX's own domain beside ONNX's operators, and below which opset.
struct RuntimeOperator {
  std::string_view op;
  int64_t below = std::numeric_limits<int64_t>::max();
};
constexpr RuntimeOperator kRuntimeOperators[] = {{"LayerNormalization", 17},
                                                 {"SimplifiedLayerNormalization"},
                                                 {"Affine", 10},
                                                 {"Crop", 10},
                                                 {"DynamicSlice", 10},
                                                 {"ImageScaler", 10},
                                                 {"ParametricSoftplus", 10},
                                                 {"Scale", 10},
                                                 {"ScaledTanh", 10},
                                                 {"ThresholdedRelu", 10},
                                                 {"MeanVarianceNormalization", 9}};

bool IsOfRuntime(const OnnxNode& node, int64_t opset) {
  if (!OperatorTable::Domain(node.domain).empty()) return false;
  return std::any_of(std::begin(kRuntimeOperators), std::end(kRuntimeOperators),
                     [&](const RuntimeOperator& known) {
                       return known.op == node.op_type && opset < known.below;
                     });
}

std::string FullName(const OnnxNode& node) {
  const std::string_view domain = OperatorTable::Domain(node.domain);
  return (domain.empty() ? "" : std::string(domain) + ":") + std::string(node.op_type);
}

class OperatorCheck {
 public:
  OperatorCheck(const LintSubject& subject, const LintNode& at)
      : subject_(subject), table_(subject.table), at_(at), node_(at.node) {}

  void Run() {
    if (node_.op_type.empty()) {
      return Add(lint_rule::kUnknownOperator,
                 "Field 'op_type' of 'node' is required to be non-empty.");
    }
    const int64_t opset = subject_.Opset(node_.domain);
    if (opset == 0 && !subject_.model.contents().opsets.empty()) {
      Add(lint_rule::kMissingImport,
          "No opset import for domain " + QuotePython(OperatorTable::Domain(node_.domain)) +
              ", which the operator " + QuotePython(node_.op_type) + " is of");
    }
    if (IsFunction(subject_.model, node_)) return;
    if (opset != 0 && IsOfRuntime(node_, opset)) return OfRuntime(opset);
    if (!table_.Knows(node_.domain, node_.op_type)) return Unknown(opset);
    if (opset == 0 || table_.FirstVersion(node_.domain, node_.op_type) == 0) return;
    const OperatorVersion* version = table_.Find(node_.domain, node_.op_type, opset);
    if (version == nullptr) return TooEarly(opset);
    if (version->deprecated) {
      return Add(lint_rule::kOperatorVersion,
                 "Op registered for " + FullName(node_) + " is deprecated in domain_version of " +
                     std::to_string(opset) + " (since " + std::to_string(version->since) + ")");
    }
    CheckInputs(*version);
    CheckOutputs(*version);
    CheckAttributes(*version);
  }

 private:
  void Add(const LintRule& rule, std::string message) {
    subject_.findings.Add(rule, std::move(message), at_);
  }

  void Unknown(int64_t opset) {
    if (table_.Complete(node_.domain)) {
      return Add(lint_rule::kUnknownOperator, "No Op registered for " + FullName(node_) +
                                                  " with domain_version of " +
                                                  std::to_string(opset));
    }
    Add(lint_rule::kCustomOperator,
        FullName(node_) + " is not a registered function/op: runners need a library that has it");
  }

  void OfRuntime(int64_t opset) {
    Add(lint_rule::kRuntimeOperator, FullName(node_) + " is not an operator of ONNX in opset " +
                                         std::to_string(opset) +
                                         ": ONNX Runtime has one of its own, but other runtimes"
                                         " may not");
  }

  void TooEarly(int64_t opset) {
    Add(lint_rule::kOperatorVersion,
        "No Op registered for " + FullName(node_) + " with domain_version of " +
            std::to_string(opset) + ": it came with version " +
            std::to_string(table_.FirstVersion(node_.domain, node_.op_type)));
  }

  std::string Range(const OperatorVersion& version, std::string_view what, size_t size,
                    int64_t least, int64_t most) const {
    const bool open = most == std::numeric_limits<int64_t>::max();
    return "Node(" + std::string(node_.name) + ") with schema(" +
           std::string(OperatorTable::Domain(node_.domain)) + "::" + std::string(node_.op_type) +
           ":" + std::to_string(version.since) + ") has " + std::string(what) + " size " +
           std::to_string(size) + " not in range [min=" + std::to_string(least) +
           ", max=" + (open ? "any" : std::to_string(most)) + "].";
  }

  void CheckInputs(const OperatorVersion& version) {
    const auto inputs = at_.inputs();
    const auto count = static_cast<int64_t>(inputs.size());
    if (count < version.min_inputs || count > version.max_inputs) {
      return Add(lint_rule::kOperatorInputs,
                 Range(version, "input", inputs.size(), version.min_inputs, version.max_inputs));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const OperatorPlace* place = OperatorVersion::At(version.inputs, i);
      if (!inputs[i].empty() || place == nullptr || place->optional || place->variadic) continue;
      Add(lint_rule::kOperatorInputs, "input " + std::to_string(i) + " of " + FullName(node_) +
                                          " is required, and the node leaves it out");
    }
  }

  void CheckOutputs(const OperatorVersion& version) {
    const auto count = static_cast<int64_t>(at_.outputs().size());
    if (count >= version.min_outputs && count <= version.max_outputs) return;
    Add(lint_rule::kOperatorOutputs,
        Range(version, "output", at_.outputs().size(), version.min_outputs, version.max_outputs));
  }

  void CheckAttributes(const OperatorVersion& version) {
    std::set<std::string_view> given;
    for (const OnnxAttribute& attribute : subject_.model.Attributes(node_)) {
      if (!given.insert(attribute.name).second) {
        Add(lint_rule::kAttribute,
            "Attribute " + QuotePython(attribute.name) + " is given more than once");
      }
      CheckAttribute(version, attribute);
    }
    for (const OperatorAttribute& attribute : version.attributes) {
      if (!attribute.required || given.contains(attribute.name)) continue;
      Add(lint_rule::kAttribute,
          "Required attribute '" + std::string(attribute.name) + "' is missing.");
    }
  }

  void CheckAttribute(const OperatorVersion& version, const OnnxAttribute& attribute) {
    const auto known =
        std::find_if(version.attributes.begin(), version.attributes.end(),
                     [&](const OperatorAttribute& other) { return other.name == attribute.name; });
    if (known == version.attributes.end()) {
      return Add(lint_rule::kAttribute, "Unrecognized attribute: " + std::string(attribute.name) +
                                            " for operator " + std::string(node_.op_type));
    }
    // Files of the first version of the format have no types of attributes.
    if (attribute.type == 0 || attribute.type == known->type) return;
    Add(lint_rule::kAttribute, "Mismatched attribute type in '" + std::string(node_.name) + " : " +
                                   std::string(attribute.name) + "'. Expected: '" +
                                   AttributeTypeName(known->type) + "', actual: '" +
                                   AttributeTypeName(attribute.type) + "'");
  }

  const LintSubject& subject_;
  const OperatorTable& table_;
  const LintNode& at_;
  const OnnxNode& node_;
};

}  // namespace

void CheckOperators(const LintSubject& subject) {
  ForEachLintNode(subject.model, [&](const LintNode& at) { OperatorCheck(subject, at).Run(); });
}

}  // namespace vernier
