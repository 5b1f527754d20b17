#include "tensorrt/builder/config_text.h"

#include <cstdio>

#include "tensorrt/library/trt_words.h"

namespace vernier::trt {
namespace {

using nvinfer1::BuilderFlag;
using nvinfer1::IBuilderConfig;

#define FLAG(name) \
  Word { #name, VERNIER_TRT_ENUMERATOR(BuilderFlag, k##name) }
// In the order of their numbers.
constexpr Word kFlags[] = {FLAG(FP16),
                           FLAG(INT8),
                           FLAG(DEBUG),
                           FLAG(GPU_FALLBACK),
                           FLAG(REFIT),
                           FLAG(DISABLE_TIMING_CACHE),
                           FLAG(EDITABLE_TIMING_CACHE),
                           FLAG(TF32),
                           FLAG(SPARSE_WEIGHTS),
                           FLAG(SAFETY_SCOPE),
                           FLAG(OBEY_PRECISION_CONSTRAINTS),
                           FLAG(PREFER_PRECISION_CONSTRAINTS),
                           FLAG(DIRECT_IO),
                           FLAG(REJECT_EMPTY_ALGORITHMS),
                           FLAG(ENABLE_TACTIC_HEURISTIC),
                           FLAG(VERSION_COMPATIBLE),
                           FLAG(EXCLUDE_LEAN_RUNTIME),
                           FLAG(FP8),
                           FLAG(ERROR_ON_TIMING_CACHE_MISS),
                           FLAG(BF16),
                           FLAG(DISABLE_COMPILATION_CACHE),
                           FLAG(STRIP_PLAN),
                           FLAG(WEIGHTLESS),
                           FLAG(REFIT_IDENTICAL),
                           FLAG(WEIGHT_STREAMING),
                           FLAG(INT4),
                           FLAG(REFIT_INDIVIDUAL),
                           FLAG(STRICT_NANS),
                           FLAG(MONITOR_MEMORY),
                           FLAG(FP4),
                           FLAG(DISTRIBUTIVE_INDEPENDENCE)};
#undef FLAG

constexpr Word kCapabilityNames[] = {{"EngineCapability.STANDARD", 0},
                                     {"EngineCapability.SAFETY", 1},
                                     {"EngineCapability.DLA_STANDALONE", 2}};
constexpr Word kDevices[] = {{"DeviceType.GPU", 0}, {"DeviceType.DLA", 1}};

template <typename IsOn>
std::string ListOf(std::span<const Word> words, IsOn is_on) {
  std::string text;
  for (const Word& row : words) {
    if (row.value && is_on(*row.value)) text += (text.empty() ? "" : ", ") + std::string(row.name);
  }
  return "[" + text + "]";
}

bool UsesDla(const IBuilderConfig& config) {
  return config.getDLACore() >= 0 || config.getDefaultDeviceType() == nvinfer1::DeviceType::kDLA;
}

std::string PoolsOf(const IBuilderConfig& config) {
  std::string text;
  for (const Word& row : MemoryPoolWords()) {
    if (!row.value || (row.name.starts_with("DLA") && !UsesDla(config))) continue;
    const size_t bytes =
        config.getMemoryPoolLimit(static_cast<nvinfer1::MemoryPoolType>(*row.value));
    char size[64];
    std::snprintf(size, sizeof(size), ": %.2f MiB", static_cast<double>(bytes) / (1 << 20));
    text += (text.empty() ? "" : ", ") + std::string(row.name) + size;
  }
  return "[" + text + "]";
}

#if !VERNIER_TRT_AT_LEAST(11, 0)
std::string_view CalibratorOf(const IBuilderConfig& config) {
  nvinfer1::IInt8Calibrator* calibrator = config.getInt8Calibrator();
  if (calibrator == nullptr) return {};
  switch (calibrator->getAlgorithm()) {
    case nvinfer1::CalibrationAlgoType::kLEGACY_CALIBRATION:
      return "IInt8LegacyCalibrator";
    case nvinfer1::CalibrationAlgoType::kENTROPY_CALIBRATION:
      return "IInt8EntropyCalibrator";
    case nvinfer1::CalibrationAlgoType::kENTROPY_CALIBRATION_2:
      return "IInt8EntropyCalibrator2";
    case nvinfer1::CalibrationAlgoType::kMINMAX_CALIBRATION:
      return "IInt8MinMaxCalibrator";
  }
  return {};
}
#else
std::string_view CalibratorOf(const IBuilderConfig&) { return {}; }
#endif

template <typename Config>
std::string PreviewFeaturesOf(const Config& config) {
  return ListOf(PreviewFeatureWords(), [&](int32_t feature) {
    return config.getPreviewFeature(static_cast<nvinfer1::PreviewFeature>(feature));
  });
}

template <typename Config>
std::string QuantizationFlagsOf(const Config& config) {
  if constexpr (requires { config.getQuantizationFlags(); }) {
    return ListOf(QuantizationFlagWords(),
                  [&](int32_t flag) { return (config.getQuantizationFlags() >> flag & 1u) != 0; });
  } else {
    return "[]";
  }
}

// What Polygraphy does not show.
template <typename Config>
void AddOurRows(const Config& config, ConfigRows& rows) {
  if (const auto tf32 = VERNIER_TRT_ENUMERATOR(BuilderFlag, kTF32)) {
    rows.emplace_back("TF32",
                      config.getFlag(static_cast<BuilderFlag>(*tf32)) ? "allowed" : "not allowed");
  }
  if constexpr (requires { config.getBuilderOptimizationLevel(); }) {
    rows.emplace_back("Optimization Level", std::to_string(config.getBuilderOptimizationLevel()));
  }
  if constexpr (requires { config.getMaxAuxStreams(); }) {
    rows.emplace_back("Auxiliary Streams", std::to_string(config.getMaxAuxStreams()));
  }
  if constexpr (requires { config.getHardwareCompatibilityLevel(); }) {
    rows.emplace_back("Hardware Compatibility",
                      NameOf(HardwareCompatibilityWords(),
                             static_cast<int32_t>(config.getHardwareCompatibilityLevel())));
  }
  if constexpr (requires { config.getRuntimePlatform(); }) {
    rows.emplace_back(
        "Runtime Platform",
        NameOf(RuntimePlatformWords(), static_cast<int32_t>(config.getRuntimePlatform())));
  }
  if constexpr (requires { config.getTilingOptimizationLevel(); }) {
    rows.emplace_back(
        "Tiling", NameOf(TilingWords(), static_cast<int32_t>(config.getTilingOptimizationLevel())));
  }
}

}  // namespace

ConfigRows ReadConfig(const IBuilderConfig& config) {
  ConfigRows rows;
  rows.emplace_back("Flags", ListOf(kFlags, [&](int32_t flag) {
                      return config.getFlag(static_cast<BuilderFlag>(flag));
                    }));
  rows.emplace_back("Engine Capability",
                    NameOf(kCapabilityNames, static_cast<int32_t>(config.getEngineCapability())));
  rows.emplace_back("Memory Pools", PoolsOf(config));
  rows.emplace_back("Tactic Sources", ListOf(TacticSourceWords(), [&](int32_t source) {
                      return (config.getTacticSources() >> source & 1u) != 0;
                    }));
  if (UsesDla(config)) {
    rows.emplace_back("DLA",
                      "Default Device Type: " +
                          NameOf(kDevices, static_cast<int32_t>(config.getDefaultDeviceType())) +
                          ", Core: " + std::to_string(config.getDLACore()));
  }
  rows.emplace_back(
      "Profiling Verbosity",
      "ProfilingVerbosity." +
          NameOf(ProfilingVerbosityWords(), static_cast<int32_t>(config.getProfilingVerbosity())));
  if (const int32_t count = config.getNbOptimizationProfiles(); count > 1) {
    rows.emplace_back("Optimization Profiles", std::to_string(count) + " profile(s)");
  }
  if (std::string features = PreviewFeaturesOf(config); features != "[]") {
    rows.emplace_back("Preview Features", std::move(features));
  }
  if (const std::string_view calibrator = CalibratorOf(config); !calibrator.empty()) {
    rows.emplace_back("Calibrator", calibrator);
  }
  if (std::string flags = QuantizationFlagsOf(config); flags != "[]") {
    rows.emplace_back("Quantization Flags", std::move(flags));
  }
  AddOurRows(config, rows);
  return rows;
}

std::string FormatConfig(const ConfigRows& rows) {
  constexpr size_t kTitleWidth = 22;
  std::string text;
  for (const auto& [title, value] : rows) {
    text += (text.empty() ? "" : "\n") + title;
    if (title.size() < kTitleWidth) text.append(kTitleWidth - title.size(), ' ');
    text += " | " + value;
  }
  return text;
}

}  // namespace vernier::trt
