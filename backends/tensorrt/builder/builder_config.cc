#include "tensorrt/builder/builder_config.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tensorrt/builder/engine_files.h"
#include "tensorrt/builder/profiles.h"
#include "tensorrt/builder/tactic_sources.h"
#include "tensorrt/library/builder_flags.h"
#include "tensorrt/library/option_list.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {
namespace {

using nvinfer1::BuilderFlag;
using nvinfer1::IBuilderConfig;

Status SetFlag(IBuilderConfig& config, std::optional<int32_t> flag, std::string_view option) {
  if (!flag) return NotInThisRelease(option);
  config.setFlag(static_cast<BuilderFlag>(*flag));
  return {};
}

Status SetFlags(IBuilderConfig& config, const sdk::Options& options) {
  for (const FlagRow& row : kBuilderFlags) {
    if (IsOn(options, row.key)) {
      VERNIER_TRY(SetFlag(config, row.flag, row.option));
    } else if (row.key == "tf32" && row.flag) {
      // TensorRT's default is on, Polygraphy's off.
      config.clearFlag(static_cast<BuilderFlag>(*row.flag));
    }
  }
  return {};
}

Status SetPrecisionConstraints(IBuilderConfig& config, const sdk::Options& options) {
  const std::string how = ValueOf(options, "precision_constraints").value_or("none");
  if (how == "none") return {};
  const std::string option = "--precision-constraints " + how;
  const auto flag = how == "obey"
                        ? VERNIER_TRT_ENUMERATOR(BuilderFlag, kOBEY_PRECISION_CONSTRAINTS)
                        : VERNIER_TRT_ENUMERATOR(BuilderFlag, kPREFER_PRECISION_CONSTRAINTS);
  return SetFlag(config, flag, option);
}

Status SetPreviewFeatures(IBuilderConfig& config, const sdk::Options& options) {
  const auto words = WordsOf(options, "preview_features");
  if (!words) return {};
  uint32_t wanted = 0;
  for (const std::string& word : *words) {
    VERNIER_ASSIGN_OR_RETURN(const int32_t feature,
                             LookUp(PreviewFeatureWords(), word, "--preview-features"));
    wanted |= 1u << feature;
  }
  for (const Word& row : PreviewFeatureWords()) {
    if (!row.value) continue;
    config.setPreviewFeature(static_cast<nvinfer1::PreviewFeature>(*row.value),
                             (wanted >> *row.value & 1u) != 0);
  }
  return {};
}

Status SetVerbosity(IBuilderConfig& config, const sdk::Options& options) {
  // Layers are read back after the build, which needs the details.
  VERNIER_ASSIGN_OR_RETURN(const int32_t verbosity,
                           LookUp(ProfilingVerbosityWords(),
                                  ValueOf(options, "profiling_verbosity").value_or("detailed"),
                                  "--profiling-verbosity"));
  config.setProfilingVerbosity(static_cast<nvinfer1::ProfilingVerbosity>(verbosity));
  return {};
}

Result<uint64_t> ParseBytes(std::string_view text, std::string_view option) {
  const std::string digits(text);
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  static constexpr std::string_view kUnits = "KMG";
  std::string_view unit = end;
  double factor = 1;
  if (!unit.empty()) {
    const size_t place = kUnits.find(static_cast<char>(unit[0] & ~0x20));
    if (place == std::string_view::npos || unit.size() > 1) end = nullptr;
    for (size_t i = 0; i <= place && end != nullptr; ++i) factor *= 1024;
  }
  if (end == digits.c_str() || end == nullptr || !(number >= 0) || number * factor >= 0x1p63) {
    return InvalidArgument(std::string(option) + ": expected a size such as 1G, got '" + digits +
                           "'");
  }
  return static_cast<uint64_t>(number * factor);
}

// --engine-capability, of `convert` alone.
Status SetCapability(IBuilderConfig& config, const sdk::Options& options) {
  const auto word = ValueOf(options, "engine_capability");
  if (!word) return {};
  VERNIER_ASSIGN_OR_RETURN(const int32_t capability,
                           LookUp(EngineCapabilityWords(), *word, "--engine-capability"));
  config.setEngineCapability(static_cast<nvinfer1::EngineCapability>(capability));
  return {};
}

Status SetPools(IBuilderConfig& config, const sdk::Options& options) {
  std::vector<NamedWord> limits;
  // The option that TensorRT 8 had before there were pools.
  if (const auto workspace = ValueOf(options, "workspace")) {
    limits.push_back({"workspace", *workspace});
  }
  for (const std::string& word :
       WordsOf(options, "memory_pool_limit").value_or(std::vector<std::string>())) {
    VERNIER_ASSIGN_OR_RETURN(NamedWord limit, SplitNamed(word, "--pool-limit"));
    limits.push_back(std::move(limit));
  }
  for (const NamedWord& limit : limits) {
    VERNIER_ASSIGN_OR_RETURN(const int32_t pool,
                             LookUp(MemoryPoolWords(), limit.name, "--pool-limit"));
    VERNIER_ASSIGN_OR_RETURN(const uint64_t bytes, ParseBytes(limit.value, "--pool-limit"));
    config.setMemoryPoolLimit(static_cast<nvinfer1::MemoryPoolType>(pool), bytes);
  }
  return {};
}

Status SetTacticSources(IBuilderConfig& config, const sdk::Options& options, Logger& logger) {
  uint32_t mask = config.getTacticSources();
  if (const auto words = WordsOf(options, "tactic_sources")) {
    mask = 0;
    for (const std::string& word : *words) {
      VERNIER_ASSIGN_OR_RETURN(const int32_t source,
                               LookUp(TacticSourceWords(), word, "--tactic-sources"));
      mask |= 1u << source;
    }
  }
  const UsableSources usable = ClearUnusableSources(mask);
  for (const std::string& source : usable.cleared) {
    logger.host().Warning("Tactic source left out, its library cannot be used: " + source);
  }
  if (!config.setTacticSources(usable.mask)) {
    return BackendError("TensorRT refused these tactic sources: " + logger.TakeError());
  }
  return {};
}

Status SetQuantizationFlags(IBuilderConfig& config, const sdk::Options& options) {
  const auto words = WordsOf(options, "quantization_flags");
  if (!words) return {};
  uint32_t wanted = 0;
  for (const std::string& word : *words) {
    VERNIER_ASSIGN_OR_RETURN(const int32_t flag,
                             LookUp(QuantizationFlagWords(), word, "--quantization-flags"));
    wanted |= 1u << flag;
  }
  return [&](auto& c) -> Status {
    if constexpr (requires { c.setQuantizationFlags(wanted); }) c.setQuantizationFlags(wanted);
    return {};
  }(config);
}

// Numbers and words whose setter came after 8.5: `set` is a generic lambda that calls it.
template <typename Set>
Status SetIfThere(IBuilderConfig& config, std::string_view option, Set set) {
  if constexpr (requires { set(config); }) {
    set(config);
    return {};
  } else {
    return NotInThisRelease(option);
  }
}

#define SETTER(call)                         \
  [&](auto& c) requires requires { c.call; } \
  { c.call; }
Status SetNumbers(IBuilderConfig& config, const sdk::Options& options) {
  VERNIER_ASSIGN_OR_RETURN(const auto level, NumberOf(options, "builder_optimization_level",
                                                      "--builder-optimization-level"));
  if (level) {
    const auto value = static_cast<int32_t>(*level);
    VERNIER_TRY(SetIfThere(config, "--builder-optimization-level",
                           SETTER(setBuilderOptimizationLevel(value))));
  }
  VERNIER_ASSIGN_OR_RETURN(const auto streams,
                           NumberOf(options, "max_aux_streams", "--max-aux-streams"));
  if (streams) {
    const auto value = static_cast<int32_t>(*streams);
    VERNIER_TRY(SetIfThere(config, "--max-aux-streams", SETTER(setMaxAuxStreams(value))));
  }
  return {};
}
#undef SETTER

// The type of the one parameter of a setter, which a release without the enumeration cannot name.
template <typename C, typename A>
A ArgumentOf(void (C::*)(A) noexcept);

Status SetLevels(IBuilderConfig& config, const sdk::Options& options) {
  if (const auto word = ValueOf(options, "hardware_compatibility_level")) {
    constexpr std::string_view kOption = "--hardware-compatibility-level";
    VERNIER_ASSIGN_OR_RETURN(const int32_t value,
                             LookUp(HardwareCompatibilityWords(), *word, kOption));
    VERNIER_TRY([&](auto& c) -> Status {
      using C = std::remove_reference_t<decltype(c)>;
      if constexpr (requires { &C::setHardwareCompatibilityLevel; }) {
        using Level = decltype(ArgumentOf(&C::setHardwareCompatibilityLevel));
        c.setHardwareCompatibilityLevel(static_cast<Level>(value));
        return {};
      }
      return NotInThisRelease(kOption);
    }(config));
  }
  if (const auto word = ValueOf(options, "runtime_platform")) {
    constexpr std::string_view kOption = "--runtime-platform";
    VERNIER_ASSIGN_OR_RETURN(const int32_t value, LookUp(RuntimePlatformWords(), *word, kOption));
    VERNIER_TRY([&](auto& c) -> Status {
      using C = std::remove_reference_t<decltype(c)>;
      if constexpr (requires { &C::setRuntimePlatform; }) {
        using Platform = decltype(ArgumentOf(&C::setRuntimePlatform));
        c.setRuntimePlatform(static_cast<Platform>(value));
        return {};
      }
      return NotInThisRelease(kOption);
    }(config));
  }
  const auto tiling = ValueOf(options, "tiling_optimization_level");
  if (!tiling) return {};
  constexpr std::string_view kOption = "--tiling-optimization-level";
  VERNIER_ASSIGN_OR_RETURN(const int32_t value, LookUp(TilingWords(), *tiling, kOption));
  return [&](auto& c) -> Status {
    if constexpr (requires { c.getTilingOptimizationLevel(); }) {
      using Level = decltype(c.getTilingOptimizationLevel());
      c.setTilingOptimizationLevel(static_cast<Level>(value));
      return {};
    }
    return NotInThisRelease(kOption);
  }(config);
}

Status UseDla(nvinfer1::IBuilder& builder, IBuilderConfig& config, const sdk::Options& options,
              Logger& logger) {
  if (!IsOn(options, "use_dla")) return {};
  const bool fallback = IsOn(options, "allow_gpu_fallback");
  if (builder.getNbDLACores() == 0) {
    if (!fallback) {
      return Unavailable(
          "--use-dla: this system has no DLA (--allow-gpu-fallback would use the GPU)");
    }
    logger.host().Warning("--use-dla: this system has no DLA, the GPU is used");
    return {};
  }
  config.setDefaultDeviceType(nvinfer1::DeviceType::kDLA);
  config.setDLACore(0);
  if (fallback) config.setFlag(BuilderFlag::kGPU_FALLBACK);
  // As Polygraphy: without the GPU, which is where formats are changed, none may be.
  constexpr auto kPrefer = VERNIER_TRT_ENUMERATOR(BuilderFlag, kPREFER_PRECISION_CONSTRAINTS);
  constexpr auto kDirect = VERNIER_TRT_ENUMERATOR(BuilderFlag, kDIRECT_IO);
  if (kHeaderMajor < 11 && kPrefer) config.setFlag(static_cast<BuilderFlag>(*kPrefer));
  if (kHeaderMajor < 11 && kDirect && !fallback) config.setFlag(static_cast<BuilderFlag>(*kDirect));
  return {};
}

// An empty cache is always set: it is what --save-timing-cache saves.
Status SetTimingCache(BuildConfig& build, const Unbuilt& unbuilt, const sdk::Options& options,
                      Logger& logger) {
  KeptTimings* const kept = unbuilt.timings;
  build.kept_timings = kept;
  build.shared_timings = unbuilt.shared_timings;
  if (kept != nullptr && kept->cache != nullptr &&
      build.config->setTimingCache(*kept->cache, /*ignoreMismatch=*/false)) {
    build.timing_cache = kept->cache;
    return {};
  }
  std::string bytes;
  if (const auto path = ValueOf(options, "load_timing_cache")) {
    const FileLock lock(*path);
    std::ifstream file(*path, std::ios::binary);
    if (file) {
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    } else {
      logger.host().Warning("Timing cache file " + *path +
                            " not found, falling back to empty timing cache.");
    }
  }
  build.timing_cache.reset(build.config->createTimingCache(bytes.data(), bytes.size()));
  std::optional<FileState> merged;
  if (build.timing_cache != nullptr && !build.shared_timings.empty()) {
    const FileLock lock(build.shared_timings);
    merged = FileState::Of(build.shared_timings);
    VERNIER_TRY(MergeTimings(build.shared_timings, kTimingCacheDir, *build.config,
                             *build.timing_cache, logger));
  }
  if (build.timing_cache == nullptr ||
      !build.config->setTimingCache(*build.timing_cache, /*ignoreMismatch=*/false)) {
    return Malformed("--load-timing-cache: TensorRT cannot use '" +
                     ValueOf(options, "load_timing_cache").value_or("") +
                     "', perhaps another release or device made it: " + logger.TakeError());
  }
  if (kept != nullptr) {
    *kept = {.cache = build.timing_cache, .saved = {{build.shared_timings, merged}}};
  }
  return {};
}

bool IsQuantised(const nvinfer1::INetworkDefinition& network) {
  for (int32_t i = 0; i < network.getNbLayers(); ++i) {
    const nvinfer1::LayerType type = network.getLayer(i)->getType();
    if (type == nvinfer1::LayerType::kQUANTIZE || type == nvinfer1::LayerType::kDEQUANTIZE) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<BuildConfig> MakeConfig(const Unbuilt& unbuilt, const CudaDevice& device,
                               const sdk::Options& options, Logger& logger) {
  nvinfer1::IBuilder& builder = unbuilt.builder;
  nvinfer1::INetworkDefinition& network = unbuilt.network;
  BuildConfig build;
  build.config.reset(builder.createBuilderConfig());
  if (build.config == nullptr) {
    return BackendError("TensorRT made no builder configuration: " + logger.TakeError());
  }
  IBuilderConfig& config = *build.config;
  VERNIER_TRY(SetPreviewFeatures(config, options));
  VERNIER_TRY(AddProfiles(builder, network, config, options, logger));
  VERNIER_TRY(SetPrecisionConstraints(config, options));
  VERNIER_TRY(SetVerbosity(config, options));
  VERNIER_TRY(SetPools(config, options));
  VERNIER_TRY(SetTacticSources(config, options, logger));
  VERNIER_TRY(SetTimingCache(build, unbuilt, options, logger));
  VERNIER_TRY(SetCapability(config, options));
  VERNIER_TRY(SetNumbers(config, options));
  VERNIER_TRY(SetLevels(config, options));
  VERNIER_TRY(SetQuantizationFlags(config, options));
  VERNIER_TRY(SetFlags(config, options));
  if (IsOn(options, "int8") && !IsQuantised(network)) {
    VERNIER_ASSIGN_OR_RETURN(build.calibration,
                             Calibration::Set(config, network, device, options, logger));
  }
  VERNIER_TRY(UseDla(builder, config, options, logger));
  VERNIER_ASSIGN_OR_RETURN(build.tactics, TacticReplay::Set(config, options, logger));
  return build;
}

}  // namespace vernier::trt
