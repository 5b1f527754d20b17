#include <algorithm>
#include <array>
#include <iterator>

#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/words/arg_parser.h"
#include "util/text/close_matches.h"
#include "util/text/number_text.h"
#include "util/values/joined.h"
#include "vernier/log.h"

namespace vernier {
namespace {

constexpr std::string_view kOptimizationLevels[] = {
#define VERNIER_ORT_LEVEL(enumerator) #enumerator,
#include "options/rows/onnxruntime.def"
};

constexpr std::string_view kLevelHelp =
    "How far the graph is optimised, one of:"
#define VERNIER_ORT_LEVEL(enumerator) " " #enumerator
#include "options/rows/onnxruntime.def"
    ".";

// What stands before "ExecutionProvider" in the names of ONNX Runtime's sources, in lower case.
constexpr auto kKnownProviders = std::to_array<std::string_view>(
    {"cpu",      "cuda",  "tensorrt", "nvtensorrtrtx", "openvino", "dnnl", "rocm",
     "migraphx", "azure", "xnnpack",  "qnn",           "coreml",   "dml",  "vitisai",
     "tvm",      "acl",   "armnn",    "nnapi",         "rknpu",    "cann", "js",
     "webgpu",   "snpe",  "vsinpu",   "webnn"});

// Matched as the plug-in does it: by part of a name, whatever the case.
bool MayBeKnown(const std::string& provider) {
  constexpr std::string_view kSuffix = "executionprovider";
  return std::ranges::any_of(kKnownProviders, [&](std::string_view known) {
    const std::string name = std::string(known) + std::string(kSuffix);
    return name.find(provider) != std::string::npos || provider.find(name) != std::string::npos;
  });
}

// The library that is loaded may have providers of its own, and has the last word.
Status SetProviders(const OptionInput& input, RunnerPlan& runner) {
  for (const std::string& word : input.given.values) {
    if (MayBeKnown(ToLower(word)) || input.context.log == nullptr) continue;
    const std::string near = NearestName(word, kKnownProviders);
    if (near.empty()) continue;
    input.context.log->Once(Severity::kWarning, "--providers: ONNX Runtime has no provider '" +
                                                    word + "' of its own" + DidYouMean(near));
  }
  return AddSessionOption(input, runner);
}

Status SetLevel(const OptionInput& input, RunnerPlan& runner) {
  const std::string word = TextOf(input);
  if (std::ranges::find(kOptimizationLevels, word) != std::end(kOptimizationLevels)) {
    return AddSessionOption(input, runner);
  }
  return InvalidArgument("--graph-optimization-level: expected one of " +
                         Joined(kOptimizationLevels) + ", got '" + word + "'" +
                         DidYouMean(word, kOptimizationLevels));
}

// ONNX Runtime starts as many as it is asked for, which takes minutes for tens of thousands.
Status SetThreads(const OptionInput& input, RunnerPlan& runner) {
  constexpr int64_t kMost = 1024;
  const std::string word = TextOf(input);
  const std::optional<int64_t> count = ParseInt(word);
  if (count && *count >= 0 && *count <= kMost) return AddSessionOption(input, runner);
  return InvalidArgument(std::string(input.given.flag) + ": expected a number from 0 to " +
                         std::to_string(kMost) + ", got '" + word + "'");
}

constexpr OptionRow kSession[] = {
    {.flags = {"--providers", "--execution-providers"},
     .dest = "providers",
     .sets = SetBy<&SetProviders>().Named("providers").For("onnxruntime"),
     .arity = Arity::kPlus,
     .fallback = "cpu",
     .metavar = "PROVIDER",
     .help = "ONNX Runtime execution providers in order of preference, by name or part of a name."},
    {.flags = {"--graph-optimization-level"},
     .dest = "graph_optimization_level",
     .sets = SetBy<&SetLevel>().Named("graph_optimization_level").For("onnxruntime"),
     .arity = Arity::kOne,
     .fallback = kOptimizationLevels[std::size(kOptimizationLevels) - 1],
     .metavar = "LEVEL",
     .help = kLevelHelp},
    {.flags = {"--onnxrt-lib"},
     .dest = "onnxrt_lib",
     .sets = LoadOption("onnxruntime", "lib"),
     .files = FileUse::kReads,
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The ONNX Runtime library to use instead of the one found.",
     .origin = Origin::kOurs},
    {.flags = {"--intra-op-threads"},
     .dest = "intra_op_threads",
     .sets = SetBy<&SetThreads>().Named("intra_op_threads").For("onnxruntime"),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "CPUs that this process may use",
     .metavar = "N",
     .help = "Threads inside one operator, at most 1024.",
     .origin = Origin::kOurs},
    {.flags = {"--inter-op-threads"},
     .dest = "inter_op_threads",
     .sets = SetBy<&SetThreads>().Named("inter_op_threads").For("onnxruntime"),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "CPUs that this process may use",
     .metavar = "N",
     .help = "Threads across operators, at most 1024.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup OnnxRuntimeGroup() {
  return {"ONNX Runtime session", "ONNX Runtime's session", kSession, "--onnxrt"};
}

}  // namespace vernier
