#include "tensorrt/library/option_list.h"

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tensorrt/library/builder_flags.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_version.h"
#include "tensorrt/library/trt_words.h"

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
  std::string_view help;
  std::string_view flag = {};                      ///< of the command line, for messages
  std::string_view type = {};                      ///< empty: the plug-in is not given it
  std::span<const std::string_view> choices = {};  ///< all that it takes, where not `words`
  bool here = true;                                ///< is it in this release?
  std::string_view new_value = {};                 ///< only this value is new
  bool builds = true;                              ///< only a build reads it
  std::span<const Word> (*words)() = nullptr;
  uint32_t role = VN_ROLE_NONE;
};

constexpr std::string_view First(std::initializer_list<std::string_view> flags) {
  return *flags.begin();
}

// Given is on. Lists of words, of which there may be none, and of "WORD:VALUE".
constexpr std::string_view kSwitch = "switch";
constexpr std::string_view kWordList = "words";
constexpr std::string_view kNamedWords = "sizes";
constexpr std::string_view kZeroOrOne[] = {"0", "1"};

using Parser = nvonnxparser::IParser;

#define VERNIER_TRT_CHOICES(name, ...) constexpr std::string_view name[] = {__VA_ARGS__};
#include "tensorrt/options.def"

#define FLAGS(...) \
  { __VA_ARGS__ }
#define PLUGIN(...) __VA_ARGS__
#define VERNIER_TRT_OPTION(group, key_, flags, help_, row, plugin, python) \
  {.key = #key_, .help = help_, .flag = First(flags), plugin},
constexpr ListedOption kOptions[] = {
#include "tensorrt/options.def"
    // What the program asks for, for whichever option.
    {.key = "lib", .help = "library to load", .type = "path"},
    {.key = "keep_builder",
     .help = "one builder for all builds, made beforehand",
     .type = "bool",
     .choices = kZeroOrOne},
    {.key = "engine_report",
     .help = "file for what the engine says of itself, as JSON",
     .type = "path"},
    {.key = "layer_names",
     .help = "write there which nodes each layer computes",
     .type = "path",
     .role = VN_ROLE_LAYER_NODES},
    {.key = "model_type", .help = "what the model is, if it is not an ONNX file", .type = "word"},
    {.key = "model_extra", .help = "what follows the path of an old model", .type = "text"},
    {.key = "profile", .help = "shapes of an input in an optimization profile", .type = "text"},
    {.key = "calibration_feeds", .help = "file of the inputs to calibrate with", .type = "path"},
    {.key = "keep_timings", .help = "keep timings from build to build", .type = kSwitch},
    {.key = "command_timings",
     .help = "timings that the builds of one command share",
     .type = "path"},
    {.key = "node_precisions", .help = "precision of the layers of single nodes", .type = "types"},
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
  const std::string value = row.new_value.empty() ? "" : " " + std::string(row.new_value);
  return NotInThisRelease(std::string(row.flag) + value);
}

void AddWord(std::string& text, std::string_view word) {
  text += text.empty() ? "" : " ";
  for (const char c : word) text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// What the option takes in this release; empty: lists and anything else.
std::string ValuesOf(const ListedOption& row) {
  if (row.type == kSwitch) return "1";
  std::string text;
  for (const std::string_view choice : row.choices) AddWord(text, choice);
  if (row.words == nullptr || row.type == kWordList || row.type == kNamedWords) return text;
  for (const Word& word : row.words()) {
    if (word.value) AddWord(text, word.name);
  }
  return text;
}

std::vector<vn_option_info> ListOptions() {
  // What the rows' texts borrow.
  static std::deque<std::string> values;
  std::vector<vn_option_info> rows;
  for (const ListedOption& row : kOptions) {
    if (row.type.empty() || (!row.here && row.new_value.empty())) continue;
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
