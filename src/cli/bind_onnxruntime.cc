#include "cli/bind_onnxruntime.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "util/close_matches.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr auto kOptimizationLevels = std::to_array<std::string_view>(
    {"ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"});

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

// ONNX Runtime counts threads in an int.
Status CheckThreads(const ParsedArgs& args) {
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const auto& [dest, flag] : {std::pair("intra_op_threads", "--intra-op-threads"),
                                   std::pair("inter_op_threads", "--inter-op-threads")}) {
    const auto word = args.Value(dest);
    if (!word) continue;
    const std::optional<int64_t> count = ParseInt(*word);
    if (count && *count >= 0 && *count <= kMost) continue;
    return InvalidArgument(std::string(flag) + ": expected a number from 0 to " +
                           std::to_string(kMost) + ", got '" + std::string(*word) + "'");
  }
  return {};
}

}  // namespace

Status CheckOnnxRuntimeOptions(const ParsedArgs& args, Logger& logger) {
  VERNIER_TRY(CheckThreads(args));
  for (const std::string& word : args.List("providers")) {
    if (MayBeKnown(ToLower(word))) continue;
    const std::string near = NearestName(word, kKnownProviders);
    if (near.empty()) continue;
    logger.Once(Severity::kWarning, "--providers: ONNX Runtime has no provider '" + word +
                                        "' of its own; did you mean '" + near + "'?");
  }
  for (const std::string& word : args.List("graph_optimization_level")) {
    if (std::ranges::find(kOptimizationLevels, word) != kOptimizationLevels.end()) continue;
    std::string list;
    for (const std::string_view level : kOptimizationLevels) {
      list += (list.empty() ? "" : ", ") + std::string(level);
    }
    const std::string near = NearestName(word, kOptimizationLevels);
    return InvalidArgument("--graph-optimization-level: expected one of " + list + ", got '" +
                           word + "'" + (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  return {};
}

}  // namespace vernier
