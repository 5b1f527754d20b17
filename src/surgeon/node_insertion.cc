#include "surgeon/node_insertion.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "model/edit/model_composer.h"
#include "model/onnx/initializer_names.h"
#include "model/onnx/onnx_order.h"
#include "model/onnx/wire_reader.h"
#include "surgeon/cleanup.h"
#include "surgeon/graph_parts.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// AttributeProto: fields and types.
enum AttributeType : uint64_t {
  kFloat = 1,
  kInt = 2,
  kText = 3,
  kFloats = 6,
  kInts = 7,
  kTexts = 8
};

void AppendFloat(std::string& out, uint32_t field, double value) {
  AppendTag(out, field, WireType::kFixed32);
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(bits >> shift));
}

Status BadAttribute(const KeyedValue& given) {
  return InvalidArgument(
      "--attrs: expected NAME=VALUE with a number, text or a list of one kind, "
      "got " +
      QuotePython(given.key + "=" + FormatCastValue(given.value)));
}

bool IsNumber(const CastValue& value) { return AsDouble(value).has_value(); }
bool IsText(const CastValue& value) { return std::holds_alternative<std::string>(value.data); }

// A list of integers, else of numbers, else of texts.
Status AppendList(const KeyedValue& given, const std::vector<CastValue>& items,
                  std::string& attribute) {
  const auto integer = [](const CastValue& item) { return AsInt64(item).has_value(); };
  if (std::all_of(items.begin(), items.end(), integer)) {
    for (const CastValue& item : items) {
      AppendVarintField(attribute, 8, static_cast<uint64_t>(*AsInt64(item)));
    }
    AppendVarintField(attribute, 20, kInts);
  } else if (std::all_of(items.begin(), items.end(), IsNumber)) {
    for (const CastValue& item : items) AppendFloat(attribute, 7, *AsDouble(item));
    AppendVarintField(attribute, 20, kFloats);
  } else if (std::all_of(items.begin(), items.end(), IsText)) {
    for (const CastValue& item : items) {
      AppendBytesField(attribute, 9, std::get<std::string>(item.data));
    }
    AppendVarintField(attribute, 20, kTexts);
  } else {
    return BadAttribute(given);
  }
  return {};
}

Result<std::string> MakeAttribute(const KeyedValue& given) {
  std::string attribute;
  if (given.key.empty()) return BadAttribute(given);
  AppendBytesField(attribute, 1, given.key);
  if (const auto* list = std::get_if<std::vector<CastValue>>(&given.value.data)) {
    VERNIER_TRY(AppendList(given, *list, attribute));
  } else if (const auto integer = AsInt64(given.value)) {
    AppendVarintField(attribute, 3, static_cast<uint64_t>(*integer));
    AppendVarintField(attribute, 20, kInt);
  } else if (const auto number = AsDouble(given.value)) {
    AppendFloat(attribute, 2, *number);
    AppendVarintField(attribute, 20, kFloat);
  } else {
    AppendBytesField(attribute, 4, std::get<std::string>(given.value.data));
    AppendVarintField(attribute, 20, kText);
  }
  return attribute;
}

using Names = std::unordered_set<std::string_view>;

// Who reads and makes what once the node is there.
struct Wiring {
  TensorRenames readers;    // for all old nodes
  TensorRenames producers;  // for those that make the tensor
  Names taken_over;         // outputs whose producer is replaced
  std::vector<std::string> inputs, outputs;
};

class Insertion {
 public:
  Insertion(const OnnxModel& model, const NewNode& node)
      : model_(model), graph_(model.graph()), node_(node) {
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string_view name : graph_.Outputs(graph_.nodes[i])) producers_[name] = i;
    }
  }

  Result<OnnxModel> Insert() {
    VERNIER_TRY(CheckNames());
    VERNIER_TRY(Wire());
    VERNIER_ASSIGN_OR_RETURN(const std::string made, MakeNode());
    VERNIER_ASSIGN_OR_RETURN(const OnnxModel whole,
                             RewriteGraphs(model_, [&](GraphInModel& here) -> Status {
                               return here.main ? Edit(here, made) : Status();
                             }));
    // Before what is unused goes: a node that waits for itself would go with it.
    VERNIER_ASSIGN_OR_RETURN(const OnnxModel ordered, InOrder(whole));
    return WithoutUnused(ordered);
  }

 private:
  Status CheckNames() const {
    Names known = InitializerNames(graph_);
    for (const OnnxValue& input : graph_.inputs) known.insert(input.name);
    for (const std::string_view name : graph_.node_values) known.insert(name);
    for (const auto* names : {&node_.inputs, &node_.outputs}) {
      for (const std::string& name : *names) {
        if (known.contains(name)) continue;
        return NotFound("Tensor: " + name + " does not exist in the model.");
      }
    }
    return {};
  }

  bool IsOutput(std::string_view name) const {
    return std::any_of(graph_.outputs.begin(), graph_.outputs.end(),
                       [&](const OnnxValue& output) { return output.name == name; });
  }

  Status Wire() {
    wiring_.inputs = node_.inputs;
    for (const std::string& name : node_.outputs) {
      const bool made = producers_.contains(name);
      const bool read =
          std::find(node_.inputs.begin(), node_.inputs.end(), name) != node_.inputs.end();
      std::string output = name;
      if (!read) {
        if (!made) return NotMade(name);
        wiring_.taken_over.insert(name);
      } else if (IsOutput(name)) {
        if (!made) return NotMade(name);
        const std::string before = name + std::string(kInsertedSuffix);
        wiring_.producers.emplace(name, before);
        std::replace(wiring_.inputs.begin(), wiring_.inputs.end(), name, before);
      } else {
        output += kInsertedSuffix;
        wiring_.readers.emplace(name, output);
      }
      wiring_.outputs.push_back(output);
    }
    return {};
  }

  Status NotMade(const std::string& name) const {
    return InvalidArgument("--outputs: " + QuotePython(name) +
                           " is an input or a constant of the model, which a node cannot make; "
                           "name it in --inputs too to put the node after it");
  }

  Result<std::string> MakeNode() const {
    std::string made;
    for (const std::string& name : wiring_.inputs) AppendBytesField(made, 1, name);
    for (const std::string& name : wiring_.outputs) AppendBytesField(made, 2, name);
    if (!node_.name.empty()) AppendBytesField(made, 3, node_.name);
    AppendBytesField(made, 4, node_.op);
    for (const KeyedValue& given : node_.attributes) {
      VERNIER_ASSIGN_OR_RETURN(const std::string attribute, MakeAttribute(given));
      AppendBytesField(made, 5, attribute);
    }
    return made;
  }

  Status Edit(GraphInModel& here, const std::string& made) const {
    size_t place = 0;
    for (const std::string& name : node_.inputs) {
      const auto producer = producers_.find(name);
      if (producer != producers_.end()) place = std::max<size_t>(place, producer->second + 1);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      VERNIER_ASSIGN_OR_RETURN(std::string node, EditNode(graph_.nodes[i]));
      if (node != here.parts.nodes[i]) here.parts.nodes[i] = here.store.Keep(std::move(node));
    }
    here.parts.nodes.insert(here.parts.nodes.begin() + static_cast<std::ptrdiff_t>(place),
                            here.store.Keep(made));
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const OnnxValue& output = graph_.outputs[i];
      if (!wiring_.producers.contains(output.name)) continue;
      // The new node may give another shape.
      const TensorInfo info{std::string(output.name), output.dtype, std::nullopt};
      here.parts.outputs[i] = here.store.Keep(MakeValueInfo(info));
    }
    return {};
  }

  Result<std::string> EditNode(const OnnxNode& node) const {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                             ToBytes(RenamedNode(model_, graph_, node, wiring_.readers)));
    const std::string_view renamed(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // A tensor that all read under another name is still made under its own.
    std::unordered_map<std::string_view, std::string_view> undo;
    for (const auto& [name, other] : wiring_.readers) undo.emplace(other, name);
    return RenameValues(renamed, [&](std::string_view name, bool output) -> std::string {
      if (!output) return std::string(name);
      if (const auto own = undo.find(name); own != undo.end()) return std::string(own->second);
      if (wiring_.taken_over.contains(name)) return {};
      const auto before = wiring_.producers.find(name);
      return before == wiring_.producers.end() ? std::string(name) : before->second;
    });
  }

  const OnnxModel& model_;
  const OnnxGraph& graph_;
  const NewNode& node_;
  std::unordered_map<std::string_view, uint32_t> producers_;
  Wiring wiring_;
};

}  // namespace

Result<OnnxModel> WithNode(const OnnxModel& model, const NewNode& node) {
  return Insertion(model, node).Insert();
}

}  // namespace vernier
