// What a model says of itself: versions, imports, metadata, what goes in and out.
#include <map>
#include <optional>
#include <set>
#include <span>

#include "lint/rule_groups.h"
#include "model/onnx/wire_reader.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr int64_t kFirstIrWithImports = 3;
constexpr int64_t kFirstIrWithFreeWeights = 4;

void CheckVersions(const LintSubject& subject) {
  const OnnxContents& contents = subject.model.contents();
  const int64_t ir = contents.ir_version;
  if (ir <= 0) {
    subject.findings.Add(lint_rule::kIrVersion,
                         "The model does not have an ir_version set properly.");
  } else if (ir > subject.table.newest_ir()) {
    subject.findings.Add(lint_rule::kIrVersion, "Your model ir_version " + std::to_string(ir) +
                                                    " is higher than the checker's (" +
                                                    std::to_string(subject.table.newest_ir()) +
                                                    ").");
  }
  if (contents.opsets.empty() && (ir <= 0 || ir >= kFirstIrWithImports)) {
    subject.findings.Add(lint_rule::kOpsetImport,
                         "model with IR version >= 3 must specify opset_import for ONNX");
  }
}

void CheckImports(const LintSubject& subject) {
  std::map<std::string_view, int64_t> seen;
  for (const OnnxOpset& opset : subject.model.contents().opsets) {
    const std::string_view domain = OperatorTable::Domain(opset.domain);
    const std::string name = QuotePython(domain.empty() ? "ai.onnx" : domain);
    if (opset.version < 1) {
      subject.findings.Add(lint_rule::kOpsetImport, "domain " + name + " is imported in version " +
                                                        std::to_string(opset.version));
    }
    const auto [first, added] = seen.emplace(domain, opset.version);
    if (!added) {
      subject.findings.Add(lint_rule::kImportTwice, "domain " + name +
                                                        " is imported twice, in versions " +
                                                        std::to_string(first->second) + " and " +
                                                        std::to_string(opset.version));
    }
    const int64_t newest = subject.table.NewestOpset(domain);
    if (!subject.table.Complete(domain) || opset.version <= newest) continue;
    subject.findings.Add(lint_rule::kNewerOpset,
                         "opset " + std::to_string(opset.version) + " of " + name +
                             " is newer than what this version knows (" + std::to_string(newest) +
                             "): its operators are checked as of that one");
  }
}

void CheckUnusedImports(const LintSubject& subject) {
  std::set<std::string_view> used;
  ForEachLintNode(subject.model,
                  [&](const LintNode& at) { used.insert(OperatorTable::Domain(at.node.domain)); });
  for (const OnnxFunction& function : subject.model.contents().functions) {
    for (const OnnxNode& node : function.body.nodes) {
      used.insert(OperatorTable::Domain(node.domain));
    }
  }
  for (const OnnxOpset& opset : subject.model.contents().opsets) {
    // Every runtime wants ONNX's own domain to be there.
    const std::string_view domain = OperatorTable::Domain(opset.domain);
    if (domain.empty() || !used.insert(domain).second) continue;
    subject.findings.Add(lint_rule::kUnusedImport,
                         "domain " + QuotePython(domain) + " is imported, but no node uses it");
  }
}

void CheckMetadata(const LintSubject& subject) {
  std::set<std::string_view> keys;
  for (const OnnxEntry& entry : subject.model.contents().metadata) {
    if (keys.insert(entry.key).second) continue;
    subject.findings.Add(
        lint_rule::kDuplicateMetadata,
        "Your model has duplicate keys in metadata_props: " + QuotePython(entry.key));
  }
}

void CheckValueType(const LintSubject& subject, const OnnxValue& value, std::string_view what) {
  const std::string name = std::string(what) + " " + QuotePython(value.name);
  if (value.kind == OnnxValueKind::kUntyped) {
    subject.findings.Add(lint_rule::kUnknownType,
                         "Field 'type' of 'value_info' is required but missing: " + name);
  } else if (value.kind == OnnxValueKind::kTensor && !subject.table.KnowsType(value.onnx_type)) {
    subject.findings.Add(lint_rule::kUnknownType, name + " has the element type " +
                                                      std::to_string(value.onnx_type) +
                                                      ", which ONNX does not have");
  }
}

// A field of a message, and what it holds.
struct WireStep {
  uint32_t field;
  OnnxMessage message;
};

// The first negative number that is written at the end of the path.
std::optional<int64_t> NegativeAt(WireReader reader, std::span<const WireStep> path) {
  constexpr uint32_t kDimValue = 1;
  while (reader.Next()) {
    std::optional<int64_t> found;
    if (path.empty() && reader.Is(kDimValue, WireType::kVarint)) {
      if (const int64_t size = reader.Int64(); size < 0) found = size;
    } else if (!path.empty() && reader.Is(path.front().field, WireType::kBytes)) {
      found = NegativeAt(reader.Message(path.front().message), path.subspan(1));
    } else {
      reader.Skip();
    }
    if (found) return found;
  }
  return std::nullopt;
}

// As the file has it: elsewhere a negative size is one that is free.
std::optional<int64_t> NegativeSize(const OnnxValue& value) {
  const bool sparse = value.kind == OnnxValueKind::kSparseTensor;
  const WireStep path[] = {
      {2, OnnxMessage::kType},
      {sparse ? 8U : 1U, sparse ? OnnxMessage::kSparseTensorType : OnnxMessage::kTensorType},
      {2, OnnxMessage::kShape},
      {1, OnnxMessage::kDimension}};
  WireSource source(value.bytes);
  return NegativeAt(WireReader(source, OnnxMessage::kValueInfo, value.bytes), path);
}

// Could a tensor of that shape be in memory, with all free sizes as 1?
bool Fits(const TensorInfo& info) {
  if (!info.shape) return true;
  Dims dims;
  for (const Dim& dim : *info.shape) dims.push_back(dim.dynamic() ? 1 : dim.value);
  const std::optional<int64_t> count = ElementCount(dims);
  return count && (BitsOf(info.dtype) == 0 || ByteSize(info.dtype, static_cast<uint64_t>(*count)));
}

// The checker says nothing of these.
void CheckSizes(const LintSubject& subject, const OnnxValue& value, std::string_view what,
                LintLevel of_too_many) {
  const auto report = [&](LintLevel level, const std::string& fault) {
    subject.findings.AddFrom(
        lint_rule::kBadDimension, level, std::string(lint_source::kVernier),
        std::string(what) + " " + QuotePython(value.name) + " declares " + fault, {});
  };
  if (const std::optional<int64_t> size = NegativeSize(value)) {
    report(LintLevel::kWarning,
           "a size of " + std::to_string(*size) + ": runtimes treat it as a free size");
  }
  if (!Fits(ToTensorInfo(value))) report(of_too_many, "more elements than any memory holds");
}

// What keeps values from being drawn for an input.
void CheckInputShape(const LintSubject& subject, const OnnxValue& value) {
  if (value.kind == OnnxValueKind::kUntyped) return;
  const std::string name = "input " + QuotePython(value.name);
  const bool tensor =
      value.kind == OnnxValueKind::kTensor || value.kind == OnnxValueKind::kSparseTensor;
  if (!tensor) {
    subject.findings.Add(lint_rule::kNonTensorInput,
                         name + " is not a tensor: no values can be drawn for it");
  } else if (!ToTensorInfo(value).shape) {
    subject.findings.Add(lint_rule::kInputShape,
                         "Field 'shape' of 'type' is required but missing: " + name);
  }
}

void CheckValues(const LintSubject& subject) {
  const OnnxGraph& graph = subject.model.graph();
  for (const OnnxValue& value : graph.inputs) {
    CheckValueType(subject, value, "input");
    CheckInputShape(subject, value);
    CheckSizes(subject, value, "input", LintLevel::kException);
  }
  // What a node makes is not what is declared.
  for (const OnnxValue& value : graph.value_info) {
    CheckSizes(subject, value, "value", LintLevel::kWarning);
  }
  for (const OnnxValue& value : graph.outputs) {
    // Runtimes infer the type of an output that declares none.
    if (value.kind != OnnxValueKind::kUntyped) CheckValueType(subject, value, "output");
    CheckSizes(subject, value, "output", LintLevel::kWarning);
  }
  for (const auto* values : {&graph.inputs, &graph.outputs}) {
    for (const OnnxValue& value : *values) {
      if (!value.name.empty()) continue;
      subject.findings.Add(lint_rule::kEmptyName,
                           "Field 'name' of 'value_info' is required to be non-empty.");
    }
  }
}

}  // namespace

void CheckModel(const LintSubject& subject) {
  const OnnxGraph& graph = subject.model.graph();
  CheckVersions(subject);
  CheckImports(subject);
  CheckUnusedImports(subject);
  CheckMetadata(subject);
  if (graph.name.empty()) {
    subject.findings.Add(lint_rule::kGraphName,
                         "Field 'name' of 'graph' is required to be non-empty.");
  }
  if (graph.nodes.empty()) subject.findings.Add(lint_rule::kNoNodes, "ONNX model has no nodes");
  if (graph.outputs.empty()) {
    subject.findings.Add(lint_rule::kNoOutputs, "the graph has no outputs: nothing is computed");
  }
  CheckValues(subject);
  if (subject.model.contents().ir_version >= kFirstIrWithFreeWeights) return;
  std::set<std::string_view> inputs;
  for (const OnnxValue& value : graph.inputs) inputs.insert(value.name);
  for (const OnnxTensor& tensor : graph.initializers) {
    if (subject.model.contents().ir_version <= 0 || inputs.contains(tensor.name)) continue;
    subject.findings.Add(lint_rule::kWeightNotInput,
                         std::string(tensor.name) + " in initializer but not in graph input");
  }
}

}  // namespace vernier
