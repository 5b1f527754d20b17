#include "option_gates.h"

#include <span>
#include <string>
#include <vector>

#include "builder_flags.h"
#include "option_words.h"
#include "trt_version.h"
#include "trt_words.h"

namespace vernier::trt {
namespace {

using nvinfer1::IBuilderConfig;
using nvinfer1::ICudaEngine;
using nvinfer1::IExecutionContext;
using nvinfer1::INetworkDefinition;
using nvinfer1::IRuntime;

// Whether a release has what an option needs. Templates, so that a header that lacks it compiles.
#define VERNIER_TRT_HAS(name, expression) \
  template <typename T>                   \
  constexpr bool name = requires(T & t) { \
    expression;                           \
  }
VERNIER_TRT_HAS(kHasParserFlags, t.setFlags(0u));
VERNIER_TRT_HAS(kHasOptimizationLevel, t.setBuilderOptimizationLevel(0));
VERNIER_TRT_HAS(kHasAuxStreams, t.setMaxAuxStreams(0));
VERNIER_TRT_HAS(kHasHardwareCompatibility, &T::setHardwareCompatibilityLevel);
VERNIER_TRT_HAS(kHasRuntimePlatform, &T::setRuntimePlatform);
VERNIER_TRT_HAS(kHasTiling, t.getTilingOptimizationLevel());
VERNIER_TRT_HAS(kHasUnfusedMarks, t.markUnfusedTensorsAsDebugTensors());
VERNIER_TRT_HAS(kStreamsWeights, t.getStreamableWeightsSize());
VERNIER_TRT_HAS(kKnowsMemoryForShapes, t.updateDeviceMemorySizeForShapes());
VERNIER_TRT_HAS(kLoadsRuntimes, t.loadRuntime(""));
VERNIER_TRT_HAS(kHasDlaWorkspace, t.getDLAWorkspaceAllocationStrategy());
#undef VERNIER_TRT_HAS
template <typename T>
constexpr bool kMarksDebugTensors = requires(T& t, nvinfer1::ITensor& tensor) {
  t.markDebug(tensor);
};
constexpr bool kHasAttentions =
    VERNIER_TRT_ENUMERATOR(nvinfer1::LayerType, kATTENTION_INPUT).has_value();

struct Gate {
  std::string_view key;
  std::string_view option;
  bool open;
  bool builds = true;        ///< only a build reads it
  std::string_view value{};  ///< only this value is new
};
using Parser = nvonnxparser::IParser;
constexpr Gate kGates[] = {
    {"strongly_typed", "--strongly-typed", kHeaderMajor >= 9},
    {"decomposable_attentions", "--decomposable-attentions", kHasAttentions},
    {"mark_debug", "--mark-debug", kMarksDebugTensors<INetworkDefinition>},
    {"mark_unfused_tensors_as_debug_tensors", "--mark-unfused-tensors-as-debug-tensors",
     kHasUnfusedMarks<INetworkDefinition>},
    {"onnx_flags", "--onnx-flags", kHasParserFlags<Parser>},
    {"plugin_instancenorm", "--plugin-instancenorm", kHasParserFlags<Parser>},
    {"enable_uint8_asymmetric_quantization_dla", "--enable-uint8-asymmetric-quantization-dla",
     kHasParserFlags<Parser>},
    {"builder_optimization_level", "--builder-optimization-level",
     kHasOptimizationLevel<IBuilderConfig>},
    {"max_aux_streams", "--max-aux-streams", kHasAuxStreams<IBuilderConfig>},
    {"hardware_compatibility_level", "--hardware-compatibility-level",
     kHasHardwareCompatibility<IBuilderConfig>},
    {"runtime_platform", "--runtime-platform", kHasRuntimePlatform<IBuilderConfig>},
    {"tiling_optimization_level", "--tiling-optimization-level", kHasTiling<IBuilderConfig>},
    {"weight_streaming_budget", "--weight-streaming-budget", kStreamsWeights<ICudaEngine>, false},
    {"allocation_strategy", "--allocation-strategy runtime",
     kKnowsMemoryForShapes<IExecutionContext>, false, "runtime"},
    {"load_runtime", "--load-runtime", kLoadsRuntimes<IRuntime>, false},
    {"dla_workspace_allocation_strategy", "--dla-workspace-allocation-strategy",
     kHasDlaWorkspace<IRuntime>, false},
};

struct WordOption {
  std::string_view key;
  std::string_view option;
  std::span<const Word> (*words)();
  bool named = false;  ///< "WORD:VALUE"
};
constexpr WordOption kWordOptions[] = {
    {"preview_features", "--preview-features", PreviewFeatureWords},
    {"quantization_flags", "--quantization-flags", QuantizationFlagWords},
    {"profiling_verbosity", "--profiling-verbosity", ProfilingVerbosityWords},
    {"tactic_sources", "--tactic-sources", TacticSourceWords},
    {"memory_pool_limit", "--pool-limit", MemoryPoolWords, true},
    {"engine_capability", "--engine-capability", EngineCapabilityWords},
    {"hardware_compatibility_level", "--hardware-compatibility-level", HardwareCompatibilityWords},
    {"runtime_platform", "--runtime-platform", RuntimePlatformWords},
    {"tiling_optimization_level", "--tiling-optimization-level", TilingWords},
};

Status CheckWords(const sdk::Options& options, const WordOption& row) {
  for (std::string word : WordsOf(options, row.key).value_or(std::vector<std::string>())) {
    if (row.named) {
      VERNIER_ASSIGN_OR_RETURN(const NamedWord named, SplitNamed(word, row.option));
      word = named.name;
    }
    VERNIER_TRY(LookUp(row.words(), word, row.option).status());
  }
  return {};
}

Status CheckGate(const sdk::Options& options, const Gate& gate) {
  if (gate.open || !IsOn(options, gate.key)) return {};
  if (!gate.value.empty() && ValueOf(options, gate.key) != gate.value) return {};
  return NotInThisRelease(gate.option);
}

}  // namespace

Status NotInThisRelease(std::string_view option) {
  return Unavailable(std::string(option) + " is not available in TensorRT " +
                     VersionText(kHeaderVersion));
}

Status CheckOptions(const sdk::Options& options, EngineSource source) {
  const bool builds = source == EngineSource::kBuilt;
  for (const WordOption& row : kWordOptions) {
    if (builds) VERNIER_TRY(CheckWords(options, row));
  }
  for (const Gate& gate : kGates) {
    if (builds || !gate.builds) VERNIER_TRY(CheckGate(options, gate));
  }
  for (const FlagRow& row : kBuilderFlags) {
    if (builds && !row.flag && IsOn(options, row.key)) return NotInThisRelease(row.option);
  }
  return {};
}

}  // namespace vernier::trt
