#include "tensorrt/engine/engine_report.h"

#include <algorithm>
#include <fstream>

#include "tensorrt/library/trt_words.h"
#include "vernier/backend_json.hpp"

namespace vernier::trt {
namespace {

using nvinfer1::Dims;
using nvinfer1::ICudaEngine;
using nvinfer1::OptProfileSelector;

std::string ListOf(const Dims& dims) {
  std::string text = "[";
  for (int32_t i = 0; i < dims.nbDims; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(dims.d[i]);
  }
  return text + "]";
}

template <typename Rows, typename Format>
std::string ListOf(const Rows& rows, Format format) {
  std::string text = "[";
  for (const auto& row : rows) text += (text.size() > 1 ? ",\n " : "") + format(row);
  return text + "]";
}

bool IsInput(ICudaEngine& engine, const char* name) {
  return engine.getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
}

std::vector<const char*> NamesOfTensors(ICudaEngine& engine) {
  std::vector<const char*> names;
  for (int32_t i = 0; i < engine.getNbIOTensors(); ++i) names.push_back(engine.getIOTensorName(i));
  return names;
}

std::string DescribeTensor(ICudaEngine& engine, const char* name) {
  const DType dtype = DTypeOf(static_cast<int32_t>(engine.getTensorDataType(name)));
  return "{\"name\":" + sdk::JsonText(name) +
         ",\"input\":" + (IsInput(engine, name) ? "true" : "false") +
         ",\"dtype\":" + sdk::JsonText(DTypeName(dtype)) +
         ",\"shape\":" + ListOf(engine.getTensorShape(name)) + "}";
}

// Shape tensors' values have no shapes; theirs are those of the tensor.
std::string DescribeProfile(ICudaEngine& engine, int32_t profile) {
  return ListOf(NamesOfTensors(engine), [&](const char* name) -> std::string {
    if (!IsInput(engine, name)) return "{}";
    const auto shape = [&](OptProfileSelector which) {
      return ListOf(engine.getProfileShape(name, profile, which));
    };
    return "{\"min\":" + shape(OptProfileSelector::kMIN) +
           ",\"opt\":" + shape(OptProfileSelector::kOPT) +
           ",\"max\":" + shape(OptProfileSelector::kMAX) + "}";
  });
}

int64_t DeviceMemoryOf(const ICudaEngine& engine) {
  return [](const auto& e) -> int64_t {
    if constexpr (requires { e.getDeviceMemorySizeV2(); }) {
      return e.getDeviceMemorySizeV2();
    } else {
      return static_cast<int64_t>(e.getDeviceMemorySize());
    }
  }(engine);
}

// The inspector's own JSON of each layer, as text: TensorRT does not promise its form.
std::vector<std::string> LayersOf(ICudaEngine& engine, const nvinfer1::IExecutionContext& context) {
  std::vector<std::string> layers;
  const Owned<nvinfer1::IEngineInspector> inspector(engine.createEngineInspector());
  if (inspector != nullptr) (void)inspector->setExecutionContext(&context);
  for (int32_t i = 0; inspector != nullptr && i < engine.getNbLayers(); ++i) {
    const char* text = inspector->getLayerInformation(i, nvinfer1::LayerInformationFormat::kJSON);
    layers.emplace_back(text == nullptr ? "" : text);
  }
  return layers;
}

}  // namespace

void WriteEngineReport(const std::string& path, ICudaEngine& engine,
                       const nvinfer1::IExecutionContext& context, const BuildFacts& build,
                       const LayerPrecisions& precisions) {
  std::vector<int32_t> profiles(
      static_cast<size_t>(std::max(engine.getNbOptimizationProfiles(), 0)));
  for (size_t i = 0; i < profiles.size(); ++i) profiles[i] = static_cast<int32_t>(i);
  const bool detailed = engine.getProfilingVerbosity() == nvinfer1::ProfilingVerbosity::kDETAILED;
  std::ofstream file(path, std::ios::binary);
  file << "{\"name\":" << sdk::JsonText(engine.getName() == nullptr ? "" : engine.getName())
       << ",\n\"refittable\":" << (engine.isRefittable() ? "true" : "false")
       << ",\n\"device_memory_bytes\":" << DeviceMemoryOf(engine) << ",\n\"tensors\":"
       << ListOf(NamesOfTensors(engine),
                 [&](const char* name) { return DescribeTensor(engine, name); })
       << ",\n\"profiles\":"
       << ListOf(profiles,
                 [&](int32_t profile) {
                   return "{\"shapes\":" + DescribeProfile(engine, profile) + "}";
                 })
       << ",\n\"layers_repeat\":" << (kHeaderMajor < 10 ? "true" : "false")
       << ",\n\"detailed\":" << (detailed ? "true" : "false") << ",\n\"layers\":"
       << ListOf(LayersOf(engine, context),
                 [](const std::string& text) { return sdk::JsonText(text); })
       << ",\n\"config\":"
       << ListOf(build.config,
                 [](const auto& row) {
                   return "{\"setting\":" + sdk::JsonText(row.first) +
                          ",\"value\":" + sdk::JsonText(row.second) + "}";
                 })
       << ",\n\"precisions\":"
       << ListOf(precisions.layers,
                 [](const LayerPrecision& layer) {
                   return "{\"layer\":" + sdk::JsonText(layer.name) +
                          ",\"asked\":" + sdk::JsonText(layer.asked) +
                          ",\"got\":" + sdk::JsonText(layer.got) + "}";
                 })
       << "}\n";
}

}  // namespace vernier::trt
