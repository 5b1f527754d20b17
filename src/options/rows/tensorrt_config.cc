#include <string>

#include "options/rows/tensorrt_rows.h"
#include "options/table/groups.h"
#include "util/paths.h"

namespace vernier {
namespace {

constexpr std::string_view kConstraints[] = {"prefer", "obey", "none"};

Status SetTimingCache(const OptionInput& input, RunnerPlan& runner) {
  for (const std::string_view key : {"load_timing_cache", "save_timing_cache"}) {
    runner.session_options.emplace_back(key, TextOf(input));
  }
  return {};
}

// "auto": where the user's programs keep what they can make anew.
Status SetTimingCacheDir(const OptionInput& input, RunnerPlan& runner) {
  std::string folder = TextOf(input);
  if (folder == "auto") {
    folder = UserCacheFolder();
    if (folder.empty()) {
      return InvalidArgument(
          "--timing-cache-dir auto: neither XDG_CACHE_HOME nor HOME names a folder; give the "
          "folder itself");
    }
  }
  if (folder.empty()) return InvalidArgument("--timing-cache-dir: expected a folder, got ''");
  runner.session_options.emplace_back("timing_cache_dir", AbsolutePath(folder));
  return {};
}

constexpr OptionRow kConfig[] = {
    {.flags = {"--trt-min-shapes"},
     .dest = "trt_min_shapes",
     .sets = kEngineTogether,
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "NAME:SHAPE",
     .help = "Smallest shapes of an optimization profile. Give it once for each profile."},
    {.flags = {"--trt-opt-shapes"},
     .dest = "trt_opt_shapes",
     .sets = kEngineTogether,
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "NAME:SHAPE",
     .help = "Shapes that an optimization profile is tuned for. Give it once for each profile."},
    {.flags = {"--trt-max-shapes"},
     .dest = "trt_max_shapes",
     .sets = kEngineTogether,
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "NAME:SHAPE",
     .help = "Largest shapes of an optimization profile. Give it once for each profile."},
    {.flags = {"--tf32"}, .dest = "tf32", .help = "Allow TensorRT to use TF32."},
    {.flags = {"--fp16"}, .dest = "fp16", .help = "Allow TensorRT to use float16."},
    {.flags = {"--bf16"}, .dest = "bf16", .help = "Allow TensorRT to use bfloat16."},
    {.flags = {"--fp8"}, .dest = "fp8", .help = "Allow TensorRT to use float8."},
    {.flags = {"--int8"},
     .dest = "int8",
     .help = "Allow TensorRT to use int8, calibrated with the run's own inputs where the model is"
             " not quantised."},
    {.flags = {"--fp32"},
     .dest = "fp32",
     .sets = kBoundTogether,
     .help = "Use no reduced precision (the default). Lets a script loop over precision flags.",
     .origin = Origin::kOurs,
     .excludes = {"fp16", "bf16", "fp8", "int8"}},
    {.flags = {"--precision-constraints"},
     .dest = "precision_constraints",
     .arity = Arity::kOne,
     .choices = kConstraints,
     .fallback = "none",
     .metavar = "HOW",
     .help = "Whether TensorRT should prefer, must obey, or may ignore (none) the precisions that"
             " layers ask for."},
    {.flags = {"--sparse-weights"},
     .dest = "sparse_weights",
     .help = "Let TensorRT use the sparsity of weights."},
    {.flags = {"--version-compatible"},
     .dest = "version_compatible",
     .help = "Build an engine that later TensorRT versions can load."},
    {.flags = {"--exclude-lean-runtime"},
     .dest = "exclude_lean_runtime",
     .help = "Leave the lean runtime out of a version compatible engine."},
    {.flags = {"--calibration-cache"},
     .dest = "calibration_cache",
     .sets = kEngineTogether,
     .files = FileUse::kCache,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Int8 calibration cache: read if it exists, otherwise written after calibration."},
    {.flags = {"--calib-base-cls", "--calibration-base-class"},
     .dest = "calibration_base_class",
     .sets = kEngineTogether,
     .arity = Arity::kOne,
     .fallback = "IInt8EntropyCalibrator2",
     .metavar = "CLASS",
     .help = "TensorRT's calibrator class, for example IInt8MinMaxCalibrator."},
    {.flags = {"--quantile"},
     .dest = "quantile",
     .sets = kEngineTogether,
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .fallback = "0.5",
     .metavar = "X",
     .help = "Quantile of IInt8LegacyCalibrator."},
    {.flags = {"--regression-cutoff"},
     .dest = "regression_cutoff",
     .sets = kEngineTogether,
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .fallback = "0.5",
     .metavar = "X",
     .help = "Regression cutoff of IInt8LegacyCalibrator."},
    {.flags = {"--load-timing-cache"},
     .dest = "load_timing_cache",
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Start from the tactic timings in FILE."},
    {.flags = {"--error-on-timing-cache-miss"},
     .dest = "error_on_timing_cache_miss",
     .help = "Fail when a tactic's timing is not in the cache.",
     .needs = {"--load-timing-cache", "--timing-cache", "--timing-cache-dir"}},
    {.flags = {"--disable-compilation-cache"},
     .dest = "disable_compilation_cache",
     .help = "Do not cache just-in-time compiled code."},
    {.flags = {"--save-tactics", "--save-tactic-replay"},
     .dest = "save_tactics",
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Record the tactics that TensorRT chose.",
     .excludes = {"load_tactics"},
     .needs = {"--trt"}},
    {.flags = {"--load-tactics", "--load-tactic-replay"},
     .dest = "load_tactics",
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Make TensorRT choose the tactics recorded in FILE.",
     .excludes = {"save_tactics"}},
    {.flags = {"--tactic-sources"},
     .dest = "tactic_sources",
     .arity = Arity::kStar,
     .metavar = "SOURCE",
     .help = "Libraries that tactics may come from, for example cublas cudnn; nothing after the"
             " flag means none."},
    {.flags = {"--trt-config-script"},
     .dest = "trt_config_script",
     .sets = kEngineScript,
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE[:FUNCTION]",
     .help = "A Python function (load_config) that makes the builder configuration in place of all"
             " other configuration flags. TensorRT then runs in Python."},
    {.flags = {"--trt-config-postprocess-script", "--trt-cpps"},
     .dest = "trt_config_postprocess_script",
     .sets = kEngineScript,
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE[:FUNCTION]",
     .help = "A Python function (postprocess_config) that changes the finished builder"
             " configuration. TensorRT then runs in Python."},
    {.flags = {"--trt-safety-restricted"},
     .dest = "restricted",
     .help = "Restrict the engine to TensorRT's safety scope."},
    {.flags = {"--refittable"},
     .dest = "refittable",
     .help = "Build an engine whose weights can be replaced."},
    {.flags = {"--strip-plan"},
     .dest = "strip_plan",
     .help = "Build an engine without its replaceable weights."},
    {.flags = {"--use-dla"},
     .dest = "use_dla",
     .help = "Run layers on the deep learning accelerator where they can."},
    {.flags = {"--allow-gpu-fallback"},
     .dest = "allow_gpu_fallback",
     .help = "Run layers on the GPU that the accelerator does not support.",
     .needs = {"--use-dla"}},
    {.flags = {"--pool-limit", "--memory-pool-limit"},
     .dest = "memory_pool_limit",
     .arity = Arity::kPlus,
     .metavar = "POOL:BYTES",
     .help = "Memory pool limits, for example workspace:1G; K, M and G are powers of 1024."},
    {.flags = {"--preview-features"},
     .dest = "preview_features",
     .arity = Arity::kStar,
     .metavar = "FEATURE",
     .help = "Preview features to turn on; nothing after the flag turns all of them off."},
    {.flags = {"--builder-optimization-level"},
     .dest = "builder_optimization_level",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "N",
     .help = "How much time the builder spends on finding fast tactics."},
    {.flags = {"--hardware-compatibility-level"},
     .dest = "hardware_compatibility_level",
     .arity = Arity::kOne,
     .metavar = "LEVEL",
     .help = "GPU architectures that the engine must run on, for example ampere_plus."},
    {.flags = {"--max-aux-streams"},
     .dest = "max_aux_streams",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "N",
     .help = "Largest number of auxiliary streams that TensorRT may use."},
    {.flags = {"--quantization-flags"},
     .dest = "quantization_flags",
     .arity = Arity::kStar,
     .metavar = "FLAG",
     .help = "Int8 quantization flags to set; nothing after the flag clears all of them."},
    {.flags = {"--profiling-verbosity"},
     .dest = "profiling_verbosity",
     .arity = Arity::kOne,
     .fallback = "detailed",
     .metavar = "LEVEL",
     .help = "How much detail the engine reports about its layers."},
    {.flags = {"--weight-streaming"},
     .dest = "weight_streaming",
     .help = "Build an engine that can stream its weights. Needs --strongly-typed."},
    {.flags = {"--runtime-platform"},
     .dest = "runtime_platform",
     .arity = Arity::kOne,
     .metavar = "PLATFORM",
     .help = "Platform that the engine will run on, for example same_as_build."},
    {.flags = {"--direct-io"},
     .dest = "direct_io",
     .help = "Do not reformat inputs and outputs whose format was set."},
    {.flags = {"--tiling-optimization-level"},
     .dest = "tiling_optimization_level",
     .arity = Arity::kOne,
     .metavar = "LEVEL",
     .help = "How much time the builder spends on tiling."},
    {.flags = {"--timing-cache"},
     .dest = "timing_cache",
     .sets = SetBy<&SetTimingCache>().For(kEngines),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Load the timing cache FILE if it exists, and save to it after building.",
     .origin = Origin::kOurs},
    {.flags = {"--timing-cache-dir"},
     .dest = "timing_cache_dir",
     .sets = SetBy<&SetTimingCacheDir>().For(kEngines),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help =
         "Keep the tactic timings of builds in DIR from command to command, in a file for each"
         " release of TensorRT and each device. auto: vernier's folder among the user's caches.",
     .origin = Origin::kOurs},
};

constexpr OptionRow kShortForms[] = {
    {.flags = {"--workspace"},
     .dest = "workspace",
     .arity = Arity::kOne,
     .metavar = "BYTES",
     .help = "Short for --pool-limit workspace:BYTES.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup TensorRtConfigGroup() {
  static const std::vector<OptionRow> rows = EngineRows(kConfig);
  return {"TensorRT builder configuration", "how TensorRT builds an engine", rows, "--trt"};
}

OptionGroup TensorRtShortFormGroup() {
  static const std::vector<OptionRow> rows = EngineRows(kShortForms);
  OptionGroup group = TensorRtConfigGroup();
  group.rows = rows;
  return group;
}

}  // namespace vernier
