// The stand-in's builder: what it is given goes into the engine, calibration is done as TensorRT
// does it, and nothing is compiled.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "plan.h"

namespace trt_standin {

void NoteLine(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const char* path = std::getenv("VERNIER_TRT_STANDIN_LOG");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "ae");
  if (file == nullptr) return;
  std::fputs((line + "\n").c_str(), file);
  std::fclose(file);
}

std::string Behaviour(std::string_view name) {
  const char* words = std::getenv("VERNIER_TRT_STANDIN");
  std::istringstream in(words == nullptr ? "" : words);
  for (std::string word; in >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    if (word.substr(0, equals) != name) continue;
    return equals == word.size() ? "1" : word.substr(equals + 1);
  }
  return {};
}

void Complain(ILogger* logger, const std::string& text) {
  if (logger != nullptr) logger->log(ILogger::Severity::kERROR, text.c_str());
}

namespace {

class Profile final : public NotedOptimizationProfile {
 public:
  bool setShapeValuesV2(char const* name, OptProfileSelector select, int64_t const* values,
                        int32_t count) noexcept override {
    Dims dims{};
    dims.nbDims = count;
    std::copy_n(values, std::min(count, Dims::MAX_DIMS), dims.d);
    Note("setShapeValuesV2", name, select, dims);
    Keep(KeyOf("Dimensions", name, select), dims);
    return true;
  }
  bool isValid() const noexcept override { return Behaviour("invalid-profile").empty(); }
};
using ProfileObject = Object<IOptimizationProfile, Profile>;

// Timings are lines of text.
class TimingCache final : public NotedTimingCache {
 public:
  static constexpr std::string_view kFirst = "timings of the stand-in";
  explicit TimingCache(const std::string& bytes) {
    std::istringstream in(bytes);
    for (std::string line; std::getline(in, line);) lines.insert(line);
    lines.erase(std::string(kFirst));
  }
  std::set<std::string> lines;

  IHostMemory* serialize() const noexcept override {
    std::string text = std::string(kFirst) + "\n";
    for (const std::string& line : lines) text += line + "\n";
    return new MemoryObject(text);
  }
  bool combine(ITimingCache const& other, bool ignore_mismatch) noexcept override;
};
using TimingCacheObject = Object<ITimingCache, TimingCache>;

bool TimingCache::combine(ITimingCache const& other, bool ignore_mismatch) noexcept {
  Note("combine", ignore_mismatch);
  const auto& more = static_cast<const TimingCacheObject&>(other).answers.lines;
  lines.insert(more.begin(), more.end());
  return true;
}

class Config final : public NotedBuilderConfig {
 public:
  Config() {
    // As TensorRT's own begins.
    Keep("Flag(kTF32)", true);
    Keep("TacticSources()", TacticSources{24});
    Keep("BuilderOptimizationLevel()", int32_t{3});
  }
  std::vector<const ProfileObject*> profiles;
  TimingCacheObject* timings = nullptr;

  bool Has(BuilderFlag flag) const { return getFlag(flag); }

  void clearFlag(BuilderFlag flag) noexcept override {
    Note("clearFlag", flag);
    Keep(KeyOf("Flag", flag), false);
  }
  void setFlag(BuilderFlag flag) noexcept override {
    Note("setFlag", flag);
    Keep(KeyOf("Flag", flag), true);
  }
  BuilderFlags getFlags() const noexcept override {
    BuilderFlags flags = 0;
    for (const auto& [name, flag] : NamesOf(BuilderFlag{})) {
      if (getFlag(flag)) flags |= 1u << static_cast<uint32_t>(flag);
    }
    return flags;
  }
  int32_t addOptimizationProfile(IOptimizationProfile const* profile) noexcept override {
    Note("addOptimizationProfile");
    profiles.push_back(static_cast<const ProfileObject*>(profile));
    return static_cast<int32_t>(profiles.size()) - 1;
  }
  int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<int32_t>(profiles.size());
  }
  ITimingCache* createTimingCache(void const* bytes, size_t size) const noexcept override {
    const std::string text(static_cast<const char*>(bytes), size);
    Note("createTimingCache", size > 0);
    if (size > 0 && !text.starts_with(TimingCache::kFirst)) return nullptr;
    return new TimingCacheObject(text);
  }
  bool setTimingCache(ITimingCache const& cache, bool ignore_mismatch) noexcept override {
    Note("setTimingCache", ignore_mismatch);
    timings = const_cast<TimingCacheObject*>(static_cast<const TimingCacheObject*>(&cache));
    return true;
  }
  ITimingCache const* getTimingCache() const noexcept override { return timings; }
};
using ConfigObject = Object<IBuilderConfig, Config>;

int32_t FormatOf(const Tensor& tensor) {
  const TensorFormats allowed = tensor.getAllowedFormats();
  for (int32_t format = 0; format < 32; ++format) {
    if ((allowed >> format & 1u) != 0) return format;
  }
  return 0;
}

// As the inspector of TensorRT 10 writes it.
std::string TypeText(DataType type) {
  switch (type) {
    case DataType::kHALF:
      return "FP16";
    case DataType::kBF16:
      return "BF16";
    case DataType::kINT8:
      return "Int8";
    case DataType::kINT32:
      return "Int32";
    case DataType::kINT64:
      return "Int64";
    default:
      return "FP32";
  }
}

class Builder final : public NotedBuilder {
 public:
  explicit Builder(ILogger* logger) : logger_(logger) {}

  int32_t getNbDLACores() const noexcept override { return Behaviour("dla").empty() ? 0 : 1; }
  IBuilderConfig* createBuilderConfig() noexcept override { return new ConfigObject(); }
  INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept override {
    Note("createNetworkV2", flags);
    return new NetworkObject();
  }
  IOptimizationProfile* createOptimizationProfile() noexcept override {
    return &profiles_.emplace_back();
  }

  IHostMemory* buildSerializedNetwork(INetworkDefinition& network,
                                      IBuilderConfig& config) noexcept override {
    Note("buildSerializedNetwork");
    const Network& definition = static_cast<NetworkObject&>(network).answers;
    Config& settings = static_cast<ConfigObject&>(config).answers;
    for (const TensorObject* output : definition.outputs) {
      if (output->getName() != Behaviour("refuses-output")) continue;
      Complain(logger_, "Error Code 10: could not find any implementation for node");
      return nullptr;
    }
    if (settings.Has(BuilderFlag::kINT8) && settings.getInt8Calibrator() != nullptr) {
      Calibrate(definition, settings);
    }
    if (settings.timings != nullptr) {
      for (const LayerObject& layer : definition.layers) {
        settings.timings->answers.lines.insert(layer.getName());
      }
    }
    return new MemoryObject(MakePlan(definition, settings).Write());
  }

 private:
  // Batches until there are no more, or what an earlier calibration found.
  void Calibrate(const Network& network, Config& config) {
    IInt8Calibrator& calibrator = *config.getInt8Calibrator();
    NoteLine("calibrator " + Text(calibrator.getAlgorithm()) + " of batches of " +
             std::to_string(calibrator.getBatchSize()));
    size_t length = 0;
    if (const void* cache = calibrator.readCalibrationCache(length); cache != nullptr) {
      NoteLine("calibration cache: " + std::string(static_cast<const char*>(cache), length));
      return;
    }
    std::vector<void*> bindings(network.inputs.size());
    std::vector<const char*> names;
    for (const TensorObject* input : network.inputs) names.push_back(input->getName());
    const auto count = static_cast<int32_t>(names.size());
    while (calibrator.getBatch(bindings.data(), names.data(), count)) {
      float first = 0;
      std::memcpy(&first, bindings.front(), sizeof(first));
      NoteLine("calibration batch of " + std::string(names.front()) + " from " + Text(first));
    }
    const std::string made =
        "TRT-STANDIN-Calibration\n" + std::string(names.front()) + ": 3c010a14\n";
    calibrator.writeCalibrationCache(made.data(), made.size());
  }

  static DataType PrecisionOf(const LayerObject& layer, const Config& config) {
    const bool heeded = config.Has(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS) ||
                        config.Has(BuilderFlag::kPREFER_PRECISION_CONSTRAINTS);
    if (heeded && layer.precisionIsSet()) return layer.getPrecision();
    if (config.Has(BuilderFlag::kINT8)) return DataType::kINT8;
    if (config.Has(BuilderFlag::kBF16)) return DataType::kBF16;
    if (config.Has(BuilderFlag::kFP16)) return DataType::kHALF;
    return DataType::kFLOAT;
  }

  static std::string Describe(const LayerObject& layer, const Config& config) {
    if (config.getProfilingVerbosity() != ProfilingVerbosity::kDETAILED) {
      return "\"" + std::string(layer.getName()) + "\"";
    }
    const std::string output = layer.answers.outputs.front()->getName();
    return "{\"Name\": \"" + std::string(layer.getName()) + "\", \"LayerType\": \"" +
           layer.answers.op_type + "\", \"Inputs\": [], \"Outputs\": [{\"Name\": \"" + output +
           "\", \"Format/Datatype\": \"Row major linear " + TypeText(PrecisionOf(layer, config)) +
           "\"}]}";
  }

  static void AddTensor(const TensorObject& tensor, char role, Plan& plan) {
    plan.tensors.push_back({tensor.getName(), role, tensor.getType(), FormatOf(tensor.answers),
                            tensor.getDimensions(), tensor.answers.symbols});
  }

  static Plan MakePlan(const Network& network, const Config& config) {
    Plan plan;
    plan.profiles = std::max<int32_t>(1, config.getNbOptimizationProfiles());
    plan.refittable = config.Has(BuilderFlag::kREFIT);
    plan.streams_weights = config.Has(BuilderFlag::kWEIGHT_STREAMING);
    plan.verbosity = config.getProfilingVerbosity();
    plan.copies = std::all_of(network.layers.begin(), network.layers.end(), [](const auto& layer) {
      return layer.getType() == LayerType::kIDENTITY;
    });
    for (const TensorObject* input : network.inputs) {
      AddTensor(*input, input->isShapeTensor() ? 's' : 'i', plan);
      for (size_t i = 0; i < config.profiles.size(); ++i) AddShapes(*input, i, config, plan);
    }
    for (const TensorObject* output : network.outputs) AddTensor(*output, 'o', plan);
    for (const TensorObject& tensor : network.tensors) {
      if (tensor.answers.is_debug) AddTensor(tensor, 'd', plan);
    }
    for (const LayerObject& layer : network.layers) plan.layers.push_back(Describe(layer, config));
    return plan;
  }

  static void AddShapes(const TensorObject& input, size_t profile, const Config& config,
                        Plan& plan) {
    for (const auto& [name, select] : NamesOf(OptProfileSelector{})) {
      plan.shapes.push_back({static_cast<int32_t>(profile), input.getName(),
                             static_cast<int32_t>(select),
                             config.profiles[profile]->getDimensions(input.getName(), select)});
    }
  }

  ILogger* logger_;
  std::deque<ProfileObject> profiles_;
};

}  // namespace
}  // namespace trt_standin

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int32_t getInferLibVersion() noexcept { return NV_TENSORRT_VERSION; }

EXPORT void* createInferBuilder_INTERNAL(void* logger, int32_t) noexcept {
  using namespace trt_standin;
  return static_cast<IBuilder*>(
      new Object<IBuilder, Builder>(static_cast<nvinfer1::ILogger*>(logger)));
}

EXPORT bool initLibNvInferPlugins(void*, char const*) { return true; }
