#include "model/edit/onnx_outputs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "util/text/close_matches.h"
#include "util/text/fnmatch.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

using NameList = std::vector<std::string_view>;

// More names than a person reads.
constexpr size_t kNamesInMessage = 1000;

class UniqueNames {
 public:
  void Reserve(size_t count) {
    names_.reserve(count);
    seen_.reserve(count);
  }
  void Add(std::string_view name) {
    if (seen_.insert(name).second) names_.push_back(name);
  }
  bool Contains(std::string_view name) const { return seen_.contains(name); }
  /// The equal name that was added, or `name` itself: its bytes may live longer.
  std::string_view Canonical(std::string_view name) const {
    const auto found = seen_.find(name);
    return found == seen_.end() ? name : *found;
  }
  const NameList& names() const& { return names_; }
  NameList names() && { return std::move(names_); }

 private:
  NameList names_;
  std::unordered_set<std::string_view> seen_;
};

// A set in Python's spelling; Polygraphy's order is that of hashes, ours the given one.
std::string FormatSet(const NameList& names) {
  if (names.empty()) return "set()";
  std::string text = "{";
  const size_t shown = std::min(names.size(), kNamesInMessage);
  for (size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + QuotePython(names[i]);
  if (shown < names.size()) text += ", ... " + std::to_string(names.size() - shown) + " more";
  return text + "}";
}

UniqueNames CollectMarkable(const OnnxModel& model) {
  const OnnxGraph& graph = model.graph();
  UniqueNames names;
  names.Reserve(graph.nodes.size());
  for (const OnnxNode& node : graph.nodes) {
    if (node.op_type == "Constant") continue;
    for (const std::string_view output : graph.Outputs(node)) {
      if (!output.empty()) names.Add(output);
    }
  }
  return names;
}

class Selector {
 public:
  Selector(const OnnxModel& model, Logger& logger)
      : model_(model), logger_(logger), markable_(CollectMarkable(model)) {
    for (const OnnxValue& input : model.graph().inputs) {
      if (!markable_.Contains(input.name)) inputs_.Add(input.name);
    }
  }

  Status Mark(const std::vector<std::string>& wanted) { return MarkNames(Expand(wanted)); }

  Status MarkNames(const UniqueNames& names) {
    if (names.names().empty()) {
      return NotFound("No outputs were selected. Please check your wildcard patterns.");
    }
    VERNIER_TRY(CheckKnown(names));
    outputs_ = names.names();
    return {};
  }

  Status MarkAll() { return MarkNames(markable_); }
  Status MarkByType(const std::vector<std::string>& types, bool skips_unknown);
  Status Exclude(const std::vector<std::string>& unwanted);

  void KeepOutputs() {
    for (const OnnxValue& output : model_.graph().outputs) outputs_.push_back(output.name);
  }
  const NameList& outputs() const { return outputs_; }

 private:
  bool Exists(std::string_view name) const {
    return markable_.Contains(name) || inputs_.Contains(name);
  }
  UniqueNames Expand(const std::vector<std::string>& items) const;
  Status CheckKnown(const UniqueNames& names) const;

  const OnnxModel& model_;
  Logger& logger_;
  UniqueNames markable_;
  UniqueNames inputs_;  // those that no node produces
  NameList outputs_;
};

UniqueNames Selector::Expand(const std::vector<std::string>& items) const {
  UniqueNames result;
  for (const std::string& item : items) {
    if (!IsPattern(item) || Exists(item)) {
      result.Add(inputs_.Contains(item) ? inputs_.Canonical(item) : markable_.Canonical(item));
      continue;
    }
    const FnPattern pattern(item);
    bool matched = false;
    for (const std::string_view name : markable_.names()) {
      if (!pattern.Matches(name)) continue;
      result.Add(name);
      matched = true;
    }
    if (!matched) logger_.Warning("No tensors matched wildcard pattern: '" + item + "'");
  }
  return result;
}

Status Selector::CheckKnown(const UniqueNames& names) const {
  NameList missing;
  for (const std::string_view name : names.names()) {
    if (!Exists(name)) missing.push_back(name);
  }
  if (missing.empty()) return {};
  NameList all = markable_.names();
  all.insert(all.end(), inputs_.names().begin(), inputs_.names().end());
  return NotFound("The following outputs were not found in the model: " + FormatSet(missing) +
                  ".\nNote: outputs requested were: " + FormatSet(names.names()) +
                  ", but all outputs are: " + FormatSet(all));
}

std::string UnknownType(const std::string& type, const NameList& all_types) {
  const std::vector<std::string> similar = CloseMatches(type, all_types);
  std::vector<std::string> sorted(all_types.begin(), all_types.end());
  std::sort(sorted.begin(), sorted.end());
  const std::string hint = similar.empty()
                               ? " Available op types: " + FormatPythonList(sorted)
                               : " Did you mean one of: " + FormatPythonList(similar) + "?";
  return "No ONNX nodes of op type '" + type + "' were found in the model." + hint;
}

Status Selector::MarkByType(const std::vector<std::string>& types, bool skips_unknown) {
  const OnnxGraph& graph = model_.graph();
  UniqueNames all_types;
  for (const OnnxNode& node : graph.nodes) all_types.Add(node.op_type);
  UniqueNames marked;
  for (const std::string& type : types) {
    const std::string wanted = ToLower(type);
    NameList canonical;
    for (const std::string_view name : all_types.names()) {
      if (ToLower(name) == wanted) canonical.push_back(name);
    }
    if (canonical.empty()) {
      const std::string unknown = UnknownType(type, all_types.names());
      if (!skips_unknown) return NotFound(unknown);
      logger_.Error(unknown);
    }
    for (const OnnxNode& node : graph.nodes) {
      if (std::find(canonical.begin(), canonical.end(), node.op_type) == canonical.end()) continue;
      for (const std::string_view output : graph.Outputs(node)) {
        if (!output.empty()) marked.Add(output);
      }
    }
  }
  return marked.names().empty() ? Status() : MarkNames(marked);
}

Status Selector::Exclude(const std::vector<std::string>& unwanted) {
  const UniqueNames names = Expand(unwanted);
  VERNIER_TRY(CheckKnown(names));
  std::erase_if(outputs_, [&](std::string_view name) { return names.Contains(name); });
  if (!outputs_.empty()) return {};
  return NotFound(
      "No outputs were selected. Please check your wildcard patterns: --onnx-exclude-outputs "
      "removes every output.");
}

}  // namespace

bool MeansAllOutputs(const std::vector<std::string>& outputs) {
  if (outputs.size() == 1) return outputs[0] == "*";
  return outputs.size() == 2 && outputs[0] == "mark" && outputs[1] == "all";
}

std::vector<std::string_view> MarkableTensors(const OnnxModel& model) {
  return CollectMarkable(model).names();
}

Result<std::vector<std::string_view>> SelectOnnxOutputs(const OnnxModel& model,
                                                        const OnnxOutputOptions& options,
                                                        Logger& logger) {
  if (options.empty()) {
    std::vector<std::string_view> names;
    for (const OnnxValue& output : model.graph().outputs) names.push_back(output.name);
    return names;
  }
  Selector selector(model, logger);
  if (!options.outputs) {
    selector.KeepOutputs();
  } else if (MeansAllOutputs(*options.outputs)) {
    logger.Verbose("Marking all ONNX tensors as outputs");
    VERNIER_TRY(selector.MarkAll());
  } else {
    VERNIER_TRY(selector.Mark(*options.outputs));
  }
  if (options.by_type) {
    VERNIER_TRY(selector.MarkByType(*options.by_type, options.skips_unknown_types));
  }
  if (options.exclude) VERNIER_TRY(selector.Exclude(*options.exclude));
  return selector.outputs();
}

}  // namespace vernier
