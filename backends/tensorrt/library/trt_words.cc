#include "tensorrt/library/trt_words.h"

#include <algorithm>
#include <array>

#include "tensorrt/library/trt_version.h"

namespace vernier::trt {
namespace {

// The enumerator's value where the header has both the enumeration and the enumerator.
#define WORD(Enum, name) \
  Word { #name, VERNIER_TRT_ENUMERATOR(Enum, k##name) }

bool SameWord(std::string_view a, std::string_view b) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return upper(x) == upper(y); });
}

using namespace nvinfer1;

// Enumerations that TensorRT 8.5 does not have: empty ones of that name here would clash with a
// newer header's, so they are asked for by a version test, the only ones in this file.
#if VERNIER_TRT_AT_LEAST(8, 6)
constexpr std::array kHardware = {WORD(HardwareCompatibilityLevel, NONE),
                                  WORD(HardwareCompatibilityLevel, AMPERE_PLUS),
                                  WORD(HardwareCompatibilityLevel, SAME_COMPUTE_CAPABILITY)};
constexpr std::array kOnnxFlags = {
    WORD(nvonnxparser::OnnxParserFlag, NATIVE_INSTANCENORM),
    WORD(nvonnxparser::OnnxParserFlag, ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA)};
#else
constexpr std::array<Word, 3> kHardware = {
    {{"NONE", {}}, {"AMPERE_PLUS", {}}, {"SAME_COMPUTE_CAPABILITY", {}}}};
constexpr std::array<Word, 2> kOnnxFlags = {
    {{"NATIVE_INSTANCENORM", {}}, {"ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA", {}}}};
#endif
#if VERNIER_TRT_AT_LEAST(10, 8)
constexpr std::array kPlatforms = {WORD(RuntimePlatform, SAME_AS_BUILD),
                                   WORD(RuntimePlatform, WINDOWS_AMD64)};
constexpr std::array kTiling = {
    WORD(TilingOptimizationLevel, NONE), WORD(TilingOptimizationLevel, FAST),
    WORD(TilingOptimizationLevel, MODERATE), WORD(TilingOptimizationLevel, FULL)};
#else
constexpr std::array<Word, 2> kPlatforms = {{{"SAME_AS_BUILD", {}}, {"WINDOWS_AMD64", {}}}};
constexpr std::array<Word, 4> kTiling = {
    {{"NONE", {}}, {"FAST", {}}, {"MODERATE", {}}, {"FULL", {}}}};
#endif
#if !VERNIER_TRT_AT_LEAST(11, 0)
constexpr std::array kQuantization = {WORD(QuantizationFlag, CALIBRATE_BEFORE_FUSION)};
#else
constexpr std::array<Word, 1> kQuantization = {{{"CALIBRATE_BEFORE_FUSION", {}}}};
#endif

constexpr std::array kTacticSources = {
    WORD(TacticSource, CUBLAS), WORD(TacticSource, CUBLAS_LT), WORD(TacticSource, CUDNN),
    WORD(TacticSource, EDGE_MASK_CONVOLUTIONS), WORD(TacticSource, JIT_CONVOLUTIONS)};
constexpr std::array kCapabilities = {WORD(EngineCapability, STANDARD),
                                      WORD(EngineCapability, SAFETY),
                                      WORD(EngineCapability, DLA_STANDALONE)};
constexpr std::array kPools = {
    WORD(MemoryPoolType, WORKSPACE),      WORD(MemoryPoolType, DLA_MANAGED_SRAM),
    WORD(MemoryPoolType, DLA_LOCAL_DRAM), WORD(MemoryPoolType, DLA_GLOBAL_DRAM),
    WORD(MemoryPoolType, TACTIC_DRAM),    WORD(MemoryPoolType, TACTIC_SHARED_MEMORY)};
constexpr std::array kPreview = {
    WORD(PreviewFeature, FASTER_DYNAMIC_SHAPES_0805),
    WORD(PreviewFeature, DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805),
    WORD(PreviewFeature, PROFILE_SHARING_0806), WORD(PreviewFeature, ALIASED_PLUGIN_IO_10_03),
    WORD(PreviewFeature, RUNTIME_ACTIVATION_RESIZE_10_10)};
constexpr std::array kVerbosity = {WORD(ProfilingVerbosity, LAYER_NAMES_ONLY),
                                   WORD(ProfilingVerbosity, NONE),
                                   WORD(ProfilingVerbosity, DETAILED)};
constexpr std::array kLayerTypes = {WORD(LayerType, CONVOLUTION),
                                    WORD(LayerType, ACTIVATION),
                                    WORD(LayerType, POOLING),
                                    WORD(LayerType, LRN),
                                    WORD(LayerType, SCALE),
                                    WORD(LayerType, SOFTMAX),
                                    WORD(LayerType, DECONVOLUTION),
                                    WORD(LayerType, CONCATENATION),
                                    WORD(LayerType, ELEMENTWISE),
                                    WORD(LayerType, PLUGIN),
                                    WORD(LayerType, UNARY),
                                    WORD(LayerType, PADDING),
                                    WORD(LayerType, SHUFFLE),
                                    WORD(LayerType, REDUCE),
                                    WORD(LayerType, TOPK),
                                    WORD(LayerType, GATHER),
                                    WORD(LayerType, MATRIX_MULTIPLY),
                                    WORD(LayerType, CONSTANT),
                                    WORD(LayerType, IDENTITY),
                                    WORD(LayerType, PLUGIN_V2),
                                    WORD(LayerType, SLICE),
                                    WORD(LayerType, SHAPE),
                                    WORD(LayerType, RESIZE),
                                    WORD(LayerType, TRIP_LIMIT),
                                    WORD(LayerType, RECURRENCE),
                                    WORD(LayerType, ITERATOR),
                                    WORD(LayerType, LOOP_OUTPUT),
                                    WORD(LayerType, SELECT),
                                    WORD(LayerType, FILL),
                                    WORD(LayerType, QUANTIZE),
                                    WORD(LayerType, DEQUANTIZE),
                                    WORD(LayerType, CONDITION),
                                    WORD(LayerType, CONDITIONAL_INPUT),
                                    WORD(LayerType, CONDITIONAL_OUTPUT),
                                    WORD(LayerType, SCATTER),
                                    WORD(LayerType, EINSUM),
                                    WORD(LayerType, ASSERTION),
                                    WORD(LayerType, ONE_HOT),
                                    WORD(LayerType, NON_ZERO),
                                    WORD(LayerType, GRID_SAMPLE),
                                    WORD(LayerType, NMS),
                                    WORD(LayerType, REVERSE_SEQUENCE),
                                    WORD(LayerType, NORMALIZATION),
                                    WORD(LayerType, PLUGIN_V3),
                                    WORD(LayerType, CAST),
                                    WORD(LayerType, SQUEEZE),
                                    WORD(LayerType, UNSQUEEZE),
                                    WORD(LayerType, CUMULATIVE),
                                    WORD(LayerType, DYNAMIC_QUANTIZE),
                                    WORD(LayerType, ATTENTION_INPUT),
                                    WORD(LayerType, ATTENTION_OUTPUT)};
constexpr std::array kDataTypes = {
    WORD(DataType, FLOAT), WORD(DataType, HALF),  WORD(DataType, INT8), WORD(DataType, INT32),
    WORD(DataType, BOOL),  WORD(DataType, UINT8), WORD(DataType, FP8),  WORD(DataType, BF16),
    WORD(DataType, INT64), WORD(DataType, INT4),  WORD(DataType, FP4)};
constexpr std::array kFormats = {
    WORD(TensorFormat, LINEAR),     WORD(TensorFormat, CHW2),     WORD(TensorFormat, HWC8),
    WORD(TensorFormat, CHW4),       WORD(TensorFormat, CHW16),    WORD(TensorFormat, CHW32),
    WORD(TensorFormat, DHWC8),      WORD(TensorFormat, CDHW32),   WORD(TensorFormat, HWC),
    WORD(TensorFormat, DLA_LINEAR), WORD(TensorFormat, DLA_HWC4), WORD(TensorFormat, HWC16),
    WORD(TensorFormat, DHWC)};
#undef WORD

struct TypeRow {
  int32_t value;
  DType dtype;
};
constexpr TypeRow kTypes[] = {
    {0, DType::kFloat32}, {1, DType::kFloat16}, {2, DType::kInt8},         {3, DType::kInt32},
    {4, DType::kBool},    {5, DType::kUint8},   {6, DType::kFloat8E4M3FN}, {7, DType::kBFloat16},
    {8, DType::kInt64},   {9, DType::kInt4},    {10, DType::kFloat4E2M1},
};

struct TypeWord {
  std::string_view word;
  int32_t value;
};
constexpr TypeWord kTypeWords[] = {{"float32", 0}, {"float", 0}, {"float16", 1},  {"half", 1},
                                   {"int8", 2},    {"int32", 3}, {"bool", 4},     {"uint8", 5},
                                   {"fp8", 6},     {"bf16", 7},  {"bfloat16", 7}, {"int64", 8},
                                   {"int4", 9},    {"fp4", 10}};

}  // namespace

std::span<const Word> TacticSourceWords() { return kTacticSources; }
std::span<const Word> MemoryPoolWords() { return kPools; }
std::span<const Word> PreviewFeatureWords() { return kPreview; }
std::span<const Word> QuantizationFlagWords() { return kQuantization; }
std::span<const Word> ProfilingVerbosityWords() { return kVerbosity; }
std::span<const Word> HardwareCompatibilityWords() { return kHardware; }
std::span<const Word> RuntimePlatformWords() { return kPlatforms; }
std::span<const Word> TilingWords() { return kTiling; }
std::span<const Word> EngineCapabilityWords() { return kCapabilities; }
std::span<const Word> OnnxFlagWords() { return kOnnxFlags; }
std::span<const Word> LayerTypeWords() { return kLayerTypes; }
std::span<const Word> DataTypeWords() { return kDataTypes; }
std::span<const Word> TensorFormatWords() { return kFormats; }

Result<int32_t> LookUp(std::span<const Word> words, std::string_view word,
                       std::string_view option) {
  std::string known;
  for (const Word& row : words) {
    if (SameWord(row.name, word)) {
      if (row.value) return *row.value;
      return Unavailable(std::string(option) + ": TensorRT " + VersionText(kHeaderVersion) +
                         " has no " + std::string(row.name));
    }
    if (row.value) known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return InvalidArgument(std::string(option) + ": expected one of " + known + ", got '" +
                         std::string(word) + "'");
}

std::string NameOf(std::span<const Word> words, int32_t value) {
  for (const Word& row : words) {
    if (row.value == value) return std::string(row.name);
  }
  return std::to_string(value);
}

DType DTypeOf(int32_t trt_type) {
  for (const TypeRow& row : kTypes) {
    if (row.value == trt_type) return row.dtype;
  }
  return DType::kUndefined;
}

Result<int32_t> TrtTypeOfWord(std::string_view word, std::string_view option) {
  std::string known;
  for (const TypeWord& row : kTypeWords) {
    if (row.word == word) return row.value;
    known += (known.empty() ? "" : ", ") + std::string(row.word);
  }
  return InvalidArgument(std::string(option) + ": expected one of " + known + ", got '" +
                         std::string(word) + "'");
}

}  // namespace vernier::trt
