#include "tensorrt/builder/layer_precisions.h"

#include <algorithm>
#include <array>
#include <vector>

namespace vernier::trt {
namespace {

struct TypeSpelling {
  std::string_view in_json;
  std::string_view shown;
};
// In "Format/Datatype" ("Row major linear FP32", "Channel major FP16 format where ...") until 10,
// in "Datatype" since 11. Longer spellings first: "INT8" must not be found within "UINT8".
constexpr std::array<TypeSpelling, 12> kSpellings = {{{"FP32", "float32"},
                                                      {"Float", "float32"},
                                                      {"FP16", "float16"},
                                                      {"Half", "float16"},
                                                      {"BF16", "bfloat16"},
                                                      {"FP8", "float8"},
                                                      {"FP4", "float4"},
                                                      {"Int8", "int8"},
                                                      {"INT8", "int8"},
                                                      {"Int32", "int32"},
                                                      {"Int64", "int64"},
                                                      {"Bool", "bool"}}};

// The text of the first string value of a key at or after `from`.
std::string_view StringAfter(std::string_view json, std::string_view key, size_t from) {
  const size_t place = json.find("\"" + std::string(key) + "\"", from);
  if (place == std::string_view::npos) return {};
  const size_t open = json.find('"', json.find(':', place));
  if (open == std::string_view::npos) return {};
  const size_t close = json.find('"', open + 1);
  return close == std::string_view::npos ? std::string_view()
                                         : json.substr(open + 1, close - open - 1);
}

// Fused layers are named "a + b".
const AskedPrecision* FindAsked(const std::string& name, std::span<const AskedPrecision> asked) {
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find(" + ", start), name.size());
    const std::string part = name.substr(start, end - start);
    for (const AskedPrecision& row : asked) {
      if (row.layer == part) return &row;
    }
    start = end + 3;
  }
  return nullptr;
}

}  // namespace

std::string_view NameOfLayer(std::string_view json) { return StringAfter(json, "Name", 0); }

std::string_view PrecisionOfLayer(std::string_view json) {
  const size_t outputs = json.find("\"Outputs\"");
  if (outputs == std::string_view::npos) return {};
  std::string_view type = StringAfter(json, "Format/Datatype", outputs);
  if (type.empty()) type = StringAfter(json, "Datatype", outputs);
  for (const TypeSpelling& row : kSpellings) {
    if (type.find(row.in_json) != std::string_view::npos) return row.shown;
  }
  return {};
}

LayerPrecisions ReadLayerPrecisions(nvinfer1::ICudaEngine& engine,
                                    const nvinfer1::IExecutionContext& context,
                                    std::span<const AskedPrecision> asked) {
  LayerPrecisions result;
  const Owned<nvinfer1::IEngineInspector> inspector(engine.createEngineInspector());
  if (inspector != nullptr) (void)inspector->setExecutionContext(&context);
  std::vector<std::pair<std::string, int>> counts;
  int total = 0;
  for (int32_t i = 0; inspector != nullptr && i < engine.getNbLayers(); ++i) {
    const char* text = inspector->getLayerInformation(i, nvinfer1::LayerInformationFormat::kJSON);
    if (text == nullptr) continue;
    const std::string precision(PrecisionOfLayer(text));
    if (precision.empty()) continue;
    const std::string name(NameOfLayer(text));
    const AskedPrecision* wanted = FindAsked(name, asked);
    const std::string note = wanted == nullptr ? "" : " | asked for " + wanted->precision;
    result.table += precision + " | " + name + note + "\n";
    result.layers.push_back({name, wanted == nullptr ? "" : wanted->precision, precision});
    if (wanted != nullptr && wanted->precision != precision) {
      result.refused.push_back("layer '" + wanted->layer + "' was asked for " + wanted->precision +
                               " and gives " + precision);
    }
    ++total;
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& entry) { return entry.first == precision; });
    if (found == counts.end()) {
      counts.emplace_back(precision, 1);
    } else {
      ++found->second;
    }
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [precision, count] : counts) {
    result.summary += (result.summary.empty() ? "" : ", ") + precision;
    if (counts.size() > 1) {
      result.summary += " (" + std::to_string(count) + " of " + std::to_string(total) + " layers)";
    }
  }
  if (result.summary.empty()) result.summary = "not reported by the engine";
  return result;
}

std::vector<sdk::LayerTime> ReadLayerNames(nvinfer1::ICudaEngine& engine) {
  std::vector<sdk::LayerTime> layers;
  const Owned<nvinfer1::IEngineInspector> inspector(engine.createEngineInspector());
  for (int32_t i = 0; inspector != nullptr && i < engine.getNbLayers(); ++i) {
    const char* text = inspector->getLayerInformation(i, nvinfer1::LayerInformationFormat::kJSON);
    if (text == nullptr) continue;
    const std::string_view json(text);
    // Where names are all that the engine knows, each is a string of its own.
    const size_t open = json.find('"'), close = json.rfind('"');
    const bool is_name = json.find('{') == std::string_view::npos || json.find('{') > open;
    const std::string_view bare =
        is_name && open < close ? json.substr(open + 1, close - open - 1) : std::string_view();
    layers.push_back({std::string(bare.empty() ? NameOfLayer(json) : bare), "layer", 0});
  }
  return layers;
}

}  // namespace vernier::trt
