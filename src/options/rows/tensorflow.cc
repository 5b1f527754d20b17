#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/words/arg_parser.h"

namespace vernier {
namespace {

constexpr NumberRule kOpsets = {.expected = "a number >= 1", .least = 1};

// Of the conversion to ONNX, which TensorFlow's own runners do not need.
Status SetOpset(const OptionInput& input, RunnerPlan& runner) {
  if (runner.backend == "tensorflow") return {};
  int64_t opset = 0;
  VERNIER_TRY(ReadValue(input, opset));
  return AddSessionOption(input, runner);
}

// Whether XLA takes graphs for the CPU is settled when the library loads.
Status SetXla(const OptionInput& input, RunnerPlan& runner) {
  VERNIER_TRY(AddLoadOption(input, runner));
  return AddSessionOption(input, runner);
}

// `*`, and the older `mark all`. In place of the run's where a runner has outputs of its own.
Status SetOutputNames(const OptionInput& input, RunnerPlan& runner) {
  const std::vector<std::string>& words = input.given.values;
  const bool all = words == std::vector<std::string>{"mark", "all"} ||
                   words == std::vector<std::string>{"mark all"};
  const std::string_view key = runner.backend == "tensorflow" ? "outputs" : "tf_outputs";
  std::erase_if(runner.session_options, [&](const auto& option) { return option.first == key; });
  for (const std::string& word : all ? std::vector<std::string>{"*"} : words) {
    runner.session_options.emplace_back(key, word);
  }
  return {};
}

constexpr std::string_view kNoTfTrt =
    "TF-TRT integration is gone from TensorFlow and fails in Polygraphy 0.53.6 too; convert the"
    " model to ONNX and use --trt.";

constexpr OptionRow kTfTrt[] = {
    {.flags = {"--tftrt", "--use-tftrt"},
     .dest = "use_tftrt",
     .help = "Not supported: TF-TRT no longer exists. Use --trt on an ONNX model.",
     .standing = Standing::kRefused,
     .note = kNoTfTrt},
    {.flags = {"--minimum-segment-size"},
     .dest = "minimum_segment_size",
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "N",
     .help = "Not supported: belongs to --tftrt.",
     .standing = Standing::kRefused,
     .note = kNoTfTrt},
    {.flags = {"--dynamic-op"},
     .dest = "dynamic_op",
     .help = "Not supported: belongs to --tftrt.",
     .standing = Standing::kRefused,
     .note = kNoTfTrt},
};

constexpr OptionRow kTfLoad[] = {
    {.flags = {"--ckpt"},
     .dest = "ckpt",
     .sets = SessionOption("", "ckpt"),
     .in_api = InApi::kNo,
     .arity = Arity::kOne,
     .metavar = "NAME",
     .help = "Name of the checkpoint to load, without an extension. Makes the model a checkpoint"
             " folder.",
     .standing = Standing::kBetter,
     .note =
         "Runs with the checkpoint's values; Polygraphy 0.53.6 initialises the variables anew."},
    {.flags = {"--tf-outputs"},
     .dest = "tf_outputs",
     .sets = SetBy<&SetOutputNames>().OfRunner(),
     .in_api = InApi::kNo,
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Tensors to use as TensorFlow outputs; '*' or mark all takes every tensor."},
    {.flags = {"--save-pb"},
     .dest = "save_frozen_graph_path",
     .sets = SessionOption("tensorflow", "save_pb"),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the frozen TensorFlow graph.",
     .needs = {"--tf"}},
    {.flags = {"--save-tensorboard"},
     .dest = "save_tensorboard_path",
     .sets = SessionOption("tensorflow", "save_tensorboard"),
     .files = FileUse::kWritesInto,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save the graph for TensorBoard.",
     .needs = {"--tf"}},
    {.flags = {"--freeze-graph"},
     .dest = "freeze_graph",
     .sets = SessionOption("tensorflow", "freeze_graph"),
     .help = "Turn variables into constants before running.",
     .needs = {"--tf"}},
    {.flags = {"--tf-signature"},
     .dest = "tf_signature",
     .sets = SessionOption("", "signature"),
     .arity = Arity::kOne,
     .metavar = "NAME",
     .help = "The signature of a SavedModel to run. Default: serving_default, else the only one.",
     .origin = Origin::kOurs},
    {.flags = {"--tf-lib"},
     .dest = "tf_lib",
     .sets = LoadOption("tensorflow", "lib"),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "The TensorFlow library to use, instead of the one found.",
     .origin = Origin::kOurs,
     .needs = {"--tf"}},
};

constexpr OptionRow kTfSession[] = {
    {.flags = {"--gpu-memory-fraction"},
     .dest = "gpu_memory_fraction",
     .sets = SessionOption("tensorflow", "gpu_memory_fraction"),
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .metavar = "X",
     .help = "Largest fraction of GPU memory that TensorFlow may take, 0 to 1."},
    {.flags = {"--allow-growth"},
     .dest = "allow_growth",
     .sets = SessionOption("tensorflow", "allow_growth"),
     .help = "Let TensorFlow take GPU memory as it needs it."},
    {.flags = {"--xla"},
     .dest = "xla",
     .sets = SetBy<&SetXla>().Named("xla").For("tensorflow"),
     .help = "Compile the TensorFlow graph with XLA."},
};

constexpr OptionRow kTfInference[] = {
    {.flags = {"--save-timeline"},
     .dest = "save_timeline",
     .sets = SessionOption("tensorflow", "save_timeline"),
     .files = FileUse::kWritesInto,
     .arity = Arity::kOne,
     .metavar = "DIR",
     .help = "Save TensorFlow's execution traces.",
     .standing = Standing::kBetter,
     .note = "Fails in Polygraphy 0.53.6.",
     .needs = {"--tf"}},
};

constexpr OptionRow kToOnnx[] = {
    {.flags = {"--opset"},
     .dest = "opset",
     .sets = SetBy<&SetOpset>(kOpsets).Named("opset").OfRunner(),
     .in_api = InApi::kNo,
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "N",
     .help = "Operator set version when a TensorFlow model is converted to ONNX."},
};

}  // namespace

std::vector<OptionGroup> TensorFlowGroup() {
  return {{"TensorFlow-TensorRT integration", "TF-TRT (not supported)", kTfTrt},
          {"TensorFlow model loading", "loading TensorFlow models", kTfLoad},
          {"TensorFlow session", "TensorFlow's session", kTfSession, "--tf"},
          {"TensorFlow inference", "running TensorFlow models", kTfInference, "--tf"},
          {"TensorFlow to ONNX", "converting TensorFlow models to ONNX", kToOnnx}};
}

}  // namespace vernier
