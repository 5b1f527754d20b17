#include "model/edit/onnx_edit.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "model/onnx/wire_reader.h"
#include "model/shapes/onnx_infer.h"

namespace vernier {
namespace {

constexpr uint32_t kGraphField = 7, kOutputField = 12;
using Declarations = std::unordered_map<std::string_view, const OnnxValue*>;

Declarations DeclaredValues(const OnnxGraph& graph) {
  Declarations declared;
  for (const auto* values : {&graph.value_info, &graph.inputs, &graph.outputs}) {
    for (const OnnxValue& value : *values) {
      if (value.kind != OnnxValueKind::kUntyped) declared[value.name] = &value;
    }
  }
  return declared;
}

// Whether the declaration says all that onnx.checker asks for.
bool IsComplete(const OnnxValue& value) {
  const bool dense = value.kind == OnnxValueKind::kTensor;
  return !dense || (value.onnx_type != 0 && ToTensorInfo(value).shape.has_value());
}

std::string MakeValueInfo(std::string_view name, const InferredType& type) {
  std::string value;
  AppendBytesField(value, 1, name);
  if (type.onnx_type == 0) return value;
  std::string tensor;
  AppendVarintField(tensor, 1, static_cast<uint64_t>(type.onnx_type));
  if (type.rank) {
    std::string shape;
    for (int i = 0; i < *type.rank; ++i) AppendBytesField(shape, 1, {});
    AppendBytesField(tensor, 2, shape);
  }
  std::string type_proto;
  AppendBytesField(type_proto, 1, tensor);
  AppendBytesField(value, 2, type_proto);
  return value;
}

// The fields to drop, and the place where the new ones go.
struct OutputPlaces {
  std::vector<std::string_view> old_fields;
  const char* insert_at = nullptr;
};

OutputPlaces FindOutputFields(std::string_view file) {
  OutputPlaces places;
  const char* first_field = nullptr;
  WireSource source(file);
  WireReader model(source, OnnxMessage::kModel, file);
  while (model.Next()) {
    if (!model.Is(kGraphField, WireType::kBytes)) {
      model.Skip();
      continue;
    }
    WireReader graph = model.Message(OnnxMessage::kGraph);
    while (graph.Next()) {
      const bool output = graph.Is(kOutputField, WireType::kBytes);
      // Not Skip(), which would walk into every node.
      if (graph.type() == WireType::kBytes) {
        graph.Bytes();
      } else {
        graph.Skip();
      }
      if (first_field == nullptr) first_field = graph.FieldBytes().data();
      if (output) places.old_fields.push_back(graph.FieldBytes());
    }
  }
  places.insert_at = places.old_fields.empty() ? first_field : places.old_fields.front().data();
  return places;
}

bool SameOutputs(const OnnxGraph& graph, std::span<const std::string_view> names) {
  return std::equal(
      graph.outputs.begin(), graph.outputs.end(), names.begin(), names.end(),
      [](const OnnxValue& value, std::string_view name) { return value.name == name; });
}

std::string DeclareOutputs(const OnnxModel& model, std::span<const std::string_view> names,
                           OutputEdit& edit) {
  const Declarations declared = DeclaredValues(model.graph());
  const auto find = [&](std::string_view name) {
    const auto found = declared.find(name);
    return found != declared.end() && IsComplete(*found->second) ? found->second : nullptr;
  };
  std::vector<std::string_view> incomplete;
  for (const std::string_view name : names) {
    if (find(name) == nullptr) incomplete.push_back(name);
  }
  const std::vector<InferredType> types =
      incomplete.empty() ? std::vector<InferredType>() : InferTypes(model, incomplete);
  std::string fields;
  size_t next = 0;
  for (const std::string_view name : names) {
    if (const OnnxValue* value = find(name)) {
      AppendBytesField(fields, kOutputField, value->bytes);
      continue;
    }
    const InferredType& type = types[next++];
    if (type.onnx_type == 0) {
      edit.untyped.push_back(name);
    } else if (!type.rank) {
      edit.unranked.push_back(name);
    }
    AppendBytesField(fields, kOutputField, MakeValueInfo(name, type));
  }
  return fields;
}

}  // namespace

OutputEdit EditOutputs(const OnnxModel& model, std::span<const std::string_view> names) {
  OutputEdit edit;
  if (SameOutputs(model.graph(), names)) return edit;
  const OutputPlaces places = FindOutputFields(model.bytes());
  if (places.insert_at == nullptr) return edit;  // an empty graph has no names to mark
  BytePieces fields;
  fields.AddOwned(DeclareOutputs(model, names, edit));
  edit.patches.push_back({std::string_view(places.insert_at, 0), std::move(fields)});
  for (const std::string_view field : places.old_fields) edit.patches.push_back({field, {}});
  return edit;
}

}  // namespace vernier
