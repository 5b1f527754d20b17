#include "record/schema/engine_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "record/schema/record_fields.h"
#include "record/schema/record_json.h"
#include "record/schema/record_visit.h"

namespace vernier {

template <typename Fields>
void ListFields(Fields& field, EngineTensor& tensor) {
  field("name", tensor.name);
  field("input", tensor.input);
  field("dtype", tensor.dtype);
  field("shape", tensor.shape);
}

template <typename Fields>
void ListFields(Fields& field, EngineShapes& shapes) {
  field("min", shapes.min);
  field("opt", shapes.opt);
  field("max", shapes.max);
}

template <typename Fields>
void ListFields(Fields& field, EngineProfile& profile) {
  field("shapes", profile.shapes);
}

// Without the layers, which the report has as texts of TensorRT's.
template <typename Fields>
void ListFields(Fields& field, EngineRecord& engine) {
  field("name", engine.name);
  field("refittable", engine.refittable);
  field("device_memory_bytes", engine.device_memory_bytes);
  field("tensors", engine.tensors);
  field("profiles", engine.profiles);
  field("layers_repeat", engine.layers_repeat);
  field("detailed", engine.detailed);
  field.Pairs("config", engine.build.config, "setting", "value");
  field("precisions", engine.build.layers);
}

namespace {

constexpr const char* kUnknown = "Unknown";

// Polygraphy's table, which it searches in this order.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"BFLOAT16", "bfloat16"},
                                                                    {"FLOAT8E4M3", "float8e4m3fn"},
                                                                    {"FLOAT8E5M2", "float8e5m2"},
                                                                    {"FLOAT4", "float4"},
                                                                    {"FLOAT", "float32"},
                                                                    {"HALF", "float16"},
                                                                    {"FP32", "float32"},
                                                                    {"FP16", "float16"},
                                                                    {"INT64", "int64"},
                                                                    {"INT32", "int32"},
                                                                    {"INT16", "int16"},
                                                                    {"INT8", "int8"},
                                                                    {"INT4", "int4"},
                                                                    {"UINT8", "uint8"},
                                                                    {"BOOL", "bool"}};

std::string TypeIn(std::string format) {
  std::transform(format.begin(), format.end(), format.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& [word, type] : kTypes) {
    if (format.find(word) != std::string::npos) return std::string(type);
  }
  return {};
}

std::string TextOf(const RecordJson& object, const char* key, const std::string& fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// The inspector's JSON has no promised form: what is not as expected is left out.
std::vector<EngineLayerTensor> TensorsOf(const RecordJson& layer, const char* key) {
  std::vector<EngineLayerTensor> tensors;
  const auto list = layer.find(key);
  if (list == layer.end() || !list->is_array()) return tensors;
  for (const RecordJson& item : *list) {
    if (!item.is_object()) continue;
    EngineLayerTensor& tensor = tensors.emplace_back();
    tensor.name = TextOf(item, "Name", "");
    tensor.format = TextOf(item, "Format/Datatype", "");
    // Two fields since TensorRT 11.
    if (tensor.format.empty()) {
      tensor.format = TextOf(item, "Datatype", "");
      const std::string format = TextOf(item, "Format", "");
      if (!format.empty()) tensor.format += (tensor.format.empty() ? "" : " ") + format;
    }
    tensor.dtype = TypeIn(tensor.format);
    const auto dims = item.find("Dimensions");
    if (dims == item.end() || !dims->is_array()) continue;
    for (const RecordJson& dim : *dims) {
      if (dim.is_number_integer()) tensor.shape.push_back(dim.get<int64_t>());
    }
  }
  return tensors;
}

EngineLayer LayerFrom(const std::string& text) {
  const RecordJson json = RecordJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    // A name alone, where the engine was built to report no more.
    const std::string name = json.is_string() ? json.get<std::string>() : text;
    return {name, kUnknown, kUnknown, kUnknown, {}, {}};
  }
  EngineLayer layer;
  layer.name = TextOf(json, "Name", kUnknown);
  layer.type = TextOf(json, "LayerType", kUnknown);
  layer.origin = TextOf(json, "Origin", kUnknown);
  layer.tactic = TextOf(json, "TacticValue", TextOf(json, "TacticName", kUnknown));
  layer.inputs = TensorsOf(json, "Inputs");
  layer.outputs = TensorsOf(json, "Outputs");
  return layer;
}

}  // namespace

Result<EngineRecord> EngineFromReport(std::string_view text) {
  const RecordJson json = RecordJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Malformed("the report of an engine is not a JSON object");
  std::string error;
  const RecordFields fields(json, "", &error);
  EngineRecord engine;
  FieldReader reader(fields);
  ListFields(reader, engine);
  for (const std::string& layer : fields.Texts("layers")) engine.layers.push_back(LayerFrom(layer));
  if (!error.empty()) return Malformed("the report of an engine: " + error);
  return engine;
}

}  // namespace vernier
