#include "options/rows/tensorrt_rows.h"
#include "options/table/groups.h"

namespace vernier {
namespace {

constexpr std::string_view kStrategies[] = {"static", "profile", "runtime"};

constexpr OptionRow kInference[] = {
    {.flags = {"--optimization-profile"},
     .dest = "optimization_profile",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "0",
     .metavar = "N",
     .help = "Optimization profile to run with."},
    {.flags = {"--allocation-strategy"},
     .dest = "allocation_strategy",
     .arity = Arity::kOne,
     .choices = kStrategies,
     .fallback = "static",
     .metavar = "HOW",
     .help = "Size of activation memory: static (largest of all profiles), profile (of the one in"
             " use) or runtime (of the shapes at hand)."},
    {.flags = {"--weight-streaming-budget"},
     .dest = "weight_streaming_budget",
     .arity = Arity::kOne,
     .metavar = "AMOUNT",
     .help = "Weights kept on the GPU: bytes (K, M, G), a percentage such as 50%, -1 for TensorRT's"
             " choice, -2 for no streaming."},
    {.flags = {"--trt-lib"},
     .dest = "trt_lib",
     .sets = LoadOption(kEngines, "lib"),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The TensorRT library (libnvinfer), or its folder, to use instead of the one found.",
     .origin = Origin::kOurs},
    {.flags = {"--allow-engine-code"},
     .dest = "allow_engine_code",
     .help =
         "Allow an engine file to run the host code that it contains (version-compatible engines"
         " do). Engines that this run builds need no permission.",
     .origin = Origin::kOurs},
    {.flags = {"--cuda-graphs"},
     .dest = "cuda_graphs",
     .help =
         "Record an engine's inference once as a CUDA graph and launch that while shapes stay the"
         " same. Saves the time of launching kernels one by one.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup TensorRtRunGroup() {
  static const std::vector<OptionRow> rows = EngineRows(kInference);
  return {"TensorRT inference", "running TensorRT engines", rows, "--trt"};
}

}  // namespace vernier
