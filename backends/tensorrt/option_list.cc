#include "option_list.h"

#include <deque>
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

struct ListedOption {
  std::string_view key;
  std::string_view type;
  std::string_view help;
  std::string_view flag = {};    ///< of the command line, for messages
  std::string_view values = {};  ///< all that it takes, where they are not `words`
  bool here = true;              ///< is it in this release?
  std::string_view new_value{};  ///< only this value is new
  bool builds = true;            ///< only a build reads it
  std::span<const Word> (*words)() = nullptr;
  uint32_t role = VN_ROLE_NONE;
};

// Given is on. Lists of words, of which there may be none, and of "WORD:VALUE".
constexpr std::string_view kSwitch = "switch";
constexpr std::string_view kWordList = "words";
constexpr std::string_view kNamedWords = "sizes";

using Parser = nvonnxparser::IParser;
constexpr ListedOption kOptions[] = {
    {.key = "lib", .type = "path", .help = "library to load"},
    {.key = "keep_builder",
     .type = "bool",
     .help = "one builder for all builds, made beforehand",
     .values = "0 1"},
    {.key = "engine_report",
     .type = "path",
     .help = "file for the engine's description of itself, as JSON"},
    {.key = "layer_names",
     .type = "path",
     .help = "write there which nodes each layer computes",
     .role = VN_ROLE_LAYER_NODES},
    {.key = "model_type", .type = "word", .help = "what the model is, if it is not an ONNX file"},
    {.key = "model_extra", .type = "text", .help = "what follows the path of an old model"},
    {.key = "plugins", .type = "paths", .help = "plug-in libraries to load, in order"},
    {.key = "profile", .type = "text", .help = "shapes of an input in an optimization profile"},
    {.key = "precision_constraints",
     .type = "word",
     .help = "whether the precisions requested for layers are binding",
     .values = "prefer obey none"},
    {.key = "calibration_feeds", .type = "path", .help = "file of the inputs to calibrate with"},
    {.key = "calibration_cache", .type = "path", .help = "cache of the calibration"},
    {.key = "calibration_base_class", .type = "word", .help = "calibrator to use"},
    {.key = "quantile", .type = "float", .help = "quantile of the legacy calibrator"},
    {.key = "regression_cutoff", .type = "float", .help = "cutoff of the legacy calibrator"},
    {.key = "load_timing_cache", .type = "path", .help = "timings to start from"},
    {.key = "save_timing_cache", .type = "path", .help = "where timings are saved"},
    {.key = "keep_timings", .type = kSwitch, .help = "keep timings from build to build"},
    {.key = "timing_cache_dir",
     .type = "path",
     .help = "folder of timings that commands share, a file for each release and device"},
    {.key = "command_timings",
     .type = "path",
     .help = "timings that the builds of one command share"},
    {.key = "save_tactics", .type = "path", .help = "record the tactics that were chosen"},
    {.key = "load_tactics", .type = "path", .help = "choose the tactics recorded there"},
    {.key = "use_dla", .type = kSwitch, .help = "run layers on the accelerator where they can"},
    {.key = "allow_gpu_fallback", .type = kSwitch, .help = "run the others on the GPU"},
    {.key = "workspace", .type = "size", .help = "limit of the workspace"},
    {.key = "trt_outputs", .type = "names", .help = "tensors to use as outputs"},
    {.key = "trt_exclude_outputs", .type = "names", .help = "tensors to remove from the outputs"},
    {.key = "trt_outputs_by_type", .type = kWordList, .help = "layer types whose outputs are used"},
    {.key = "layer_precisions", .type = "types", .help = "precision of single layers"},
    {.key = "node_precisions", .type = "types", .help = "precision of the layers of single nodes"},
    {.key = "tensor_dtypes", .type = "types", .help = "types of single inputs and outputs"},
    {.key = "all_tensor_dtypes", .type = "type", .help = "one type for all inputs and outputs"},
    {.key = "tensor_formats", .type = "formats", .help = "formats of single inputs and outputs"},
    {.key = "all_tensor_formats", .type = kWordList, .help = "formats of all inputs and outputs"},
    {.key = "save_engine", .type = "path", .help = "where the engine is saved"},
    {.key = "optimization_profile", .type = "int", .help = "optimization profile to run with"},
    {.key = "allow_engine_code", .type = kSwitch, .help = "let an engine run code that it carries"},
    {.key = "cuda_graphs", .type = kSwitch, .help = "record an inference as a CUDA graph"},
    {.key = "preview_features",
     .type = kWordList,
     .help = "preview features to turn on",
     .flag = "--preview-features",
     .words = PreviewFeatureWords},
    {.key = "quantization_flags",
     .type = kWordList,
     .help = "quantization flags to set",
     .flag = "--quantization-flags",
     .words = QuantizationFlagWords},
    {.key = "profiling_verbosity",
     .type = "word",
     .help = "how much the engine reports about its layers",
     .flag = "--profiling-verbosity",
     .words = ProfilingVerbosityWords},
    {.key = "tactic_sources",
     .type = kWordList,
     .help = "libraries that tactics may come from",
     .flag = "--tactic-sources",
     .words = TacticSourceWords},
    {.key = "memory_pool_limit",
     .type = kNamedWords,
     .help = "limits of memory pools",
     .flag = "--pool-limit",
     .words = MemoryPoolWords},
    {.key = "engine_capability",
     .type = "word",
     .help = "which of TensorRT's runtimes the engine is for",
     .flag = "--engine-capability",
     .words = EngineCapabilityWords},
    {.key = "strongly_typed",
     .type = kSwitch,
     .help = "take the network's types as they are written",
     .flag = "--strongly-typed",
     .here = kHeaderMajor >= 9},
    {.key = "decomposable_attentions",
     .type = kSwitch,
     .help = "allow attention layers to be taken apart",
     .flag = "--decomposable-attentions",
     .here = kHasAttentions},
    {.key = "mark_debug",
     .type = "names",
     .help = "tensors to compare, too",
     .flag = "--mark-debug",
     .here = kMarksDebugTensors<INetworkDefinition>},
    {.key = "mark_unfused_tensors_as_debug_tensors",
     .type = kSwitch,
     .help = "mark every tensor that survives fusion",
     .flag = "--mark-unfused-tensors-as-debug-tensors",
     .here = kHasUnfusedMarks<INetworkDefinition>},
    {.key = "onnx_flags",
     .type = kWordList,
     .help = "flags of TensorRT's ONNX parser",
     .flag = "--onnx-flags",
     .here = kHasParserFlags<Parser>},
    {.key = "plugin_instancenorm",
     .type = kSwitch,
     .help = "the plugin for InstanceNormalization",
     .flag = "--plugin-instancenorm",
     .here = kHasParserFlags<Parser>},
    {.key = "enable_uint8_asymmetric_quantization_dla",
     .type = kSwitch,
     .help = "a flag of the ONNX parser",
     .flag = "--enable-uint8-asymmetric-quantization-dla",
     .here = kHasParserFlags<Parser>},
    {.key = "builder_optimization_level",
     .type = "int",
     .help = "how long the builder searches",
     .flag = "--builder-optimization-level",
     .here = kHasOptimizationLevel<IBuilderConfig>},
    {.key = "max_aux_streams",
     .type = "int",
     .help = "most auxiliary streams",
     .flag = "--max-aux-streams",
     .here = kHasAuxStreams<IBuilderConfig>},
    {.key = "hardware_compatibility_level",
     .type = "word",
     .help = "GPU architectures that the engine must run on",
     .flag = "--hardware-compatibility-level",
     .here = kHasHardwareCompatibility<IBuilderConfig>,
     .words = HardwareCompatibilityWords},
    {.key = "runtime_platform",
     .type = "word",
     .help = "platform that the engine will run on",
     .flag = "--runtime-platform",
     .here = kHasRuntimePlatform<IBuilderConfig>,
     .words = RuntimePlatformWords},
    {.key = "tiling_optimization_level",
     .type = "word",
     .help = "how long the builder spends on tiling",
     .flag = "--tiling-optimization-level",
     .here = kHasTiling<IBuilderConfig>,
     .words = TilingWords},
    {.key = "weight_streaming_budget",
     .type = "size",
     .help = "weights kept on the GPU",
     .flag = "--weight-streaming-budget",
     .here = kStreamsWeights<ICudaEngine>,
     .builds = false},
    {.key = "allocation_strategy",
     .type = "word",
     .help = "what activation memory is sized for",
     .flag = "--allocation-strategy runtime",
     .values = "static profile runtime",
     .here = kKnowsMemoryForShapes<IExecutionContext>,
     .new_value = "runtime",
     .builds = false},
    {.key = "load_runtime",
     .type = "path",
     .help = "runtime for a version compatible engine",
     .flag = "--load-runtime",
     .here = kLoadsRuntimes<IRuntime>,
     .builds = false},
    {.key = "dla_workspace_allocation_strategy",
     .type = "word",
     .help = "how accelerator workspace is allocated",
     .flag = "--dla-workspace-allocation-strategy",
     .here = kHasDlaWorkspace<IRuntime>,
     .builds = false},
};

Status CheckWords(const sdk::Options& options, const ListedOption& row) {
  for (std::string word : WordsOf(options, row.key).value_or(std::vector<std::string>())) {
    if (row.type == kNamedWords) {
      VERNIER_ASSIGN_OR_RETURN(const NamedWord named, SplitNamed(word, row.flag));
      word = named.name;
    }
    VERNIER_TRY(LookUp(row.words(), word, row.flag).status());
  }
  return {};
}

Status CheckRelease(const sdk::Options& options, const ListedOption& row) {
  if (row.here || !IsOn(options, row.key)) return {};
  if (!row.new_value.empty() && ValueOf(options, row.key) != row.new_value) return {};
  return NotInThisRelease(row.flag);
}

// What the option takes in this release; empty: lists and anything else.
std::string ValuesOf(const ListedOption& row) {
  if (row.type == kSwitch) return "1";
  if (row.words == nullptr || row.type == kWordList || row.type == kNamedWords) {
    return std::string(row.values);
  }
  std::string text;
  for (const Word& word : row.words()) {
    if (!word.value) continue;
    text += text.empty() ? "" : " ";
    for (const char c : word.name) {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return text;
}

std::vector<vn_option_info> ListOptions() {
  // What the rows' texts borrow.
  static std::deque<std::string> values;
  std::vector<vn_option_info> rows;
  for (const ListedOption& row : kOptions) {
    if (!row.here && row.new_value.empty()) continue;
    values.push_back(ValuesOf(row));
    rows.push_back(sdk::OptionRow(row.key, row.type, "", row.help,
                                  {.values = values.back(), .role = row.role}));
  }
  for (const FlagRow& row : kBuilderFlags) {
    if (row.flag) rows.push_back(sdk::OptionRow(row.key, kSwitch, "", row.help, {.values = "1"}));
  }
  return rows;
}

}  // namespace

std::span<const vn_option_info> OptionTable() {
  static const std::vector<vn_option_info> rows = ListOptions();
  return rows;
}

Status NotInThisRelease(std::string_view option) {
  return Unavailable(std::string(option) + " is not available in TensorRT " +
                     VersionText(kHeaderVersion));
}

Status CheckOptions(const sdk::Options& options, EngineSource source) {
  const bool builds = source == EngineSource::kBuilt;
  for (const ListedOption& row : kOptions) {
    if (builds && row.words != nullptr) VERNIER_TRY(CheckWords(options, row));
  }
  for (const ListedOption& row : kOptions) {
    if (builds || !row.builds) VERNIER_TRY(CheckRelease(options, row));
  }
  for (const FlagRow& row : kBuilderFlags) {
    if (builds && !row.flag && IsOn(options, row.key)) return NotInThisRelease(row.option);
  }
  return {};
}

}  // namespace vernier::trt
