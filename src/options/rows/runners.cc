#include <limits>
#include <set>

#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/words/arg_parser.h"

namespace vernier {
namespace {

constexpr std::string_view kTorchPlaces[] = {"auto", "plugin", "python"};

Status SetTorchPlace(const OptionInput& input, RunnerPlan& runner) {
  const std::string place = TextOf(input);
  runner.place = place == "plugin"   ? RunnerPlace::kPlugin
                 : place == "python" ? RunnerPlace::kPython
                                     : RunnerPlace::kAuto;
  return {};
}

OptionWords TorchPlaceWords(const OptionRow& row, const RunnerPlan& runner) {
  return ChoiceWords(row, static_cast<size_t>(runner.place));
}

Status SetTorchOutputs(const OptionInput& input, RunnerPlan& runner) {
  std::set<std::string_view> names;
  for (const std::string& name : input.given.values) {
    if (names.insert(name).second) continue;
    return InvalidArgument("--torch-outputs: '" + name + "' names two outputs");
  }
  return AddSessionOption(input, runner);
}

constexpr OptionRow kRunners[] = {
    {.flags = {"--tf"},
     .dest = "runners",
     .action = OptionAction::kRunner,
     .constant = "tf",
     .help = "Add a TensorFlow runner: a frozen graph, checkpoint, SavedModel or Keras model.",
     .standing = Standing::kBetter,
     .note =
         "TensorFlow 2; Polygraphy 0.53.6 asks for TensorFlow 1. SavedModel folders are read too."},
    {.flags = {"--onnxrt"},
     .dest = "runners",
     .action = OptionAction::kRunner,
     .constant = "onnxrt",
     .help = "Add an ONNX Runtime runner. May be repeated to add several.",
     .standing = Standing::kBetter,
     .note = "Runs in a process of its own: a crash of the framework is a verdict, not the end."},
    {.flags = {"--pluginref"},
     .dest = "runners",
     .action = OptionAction::kRunner,
     .constant = "pluginref",
     .help = "Add the CPU reference implementation of TensorRT's plugins and of the operators that"
             " they replace.",
     .standing = Standing::kBetter,
     .note = "More operators, among them EfficientNMS_TRT and BatchedNMS_TRT: docs/pluginref.md."},
    {.flags = {"--trt"},
     .dest = "runners",
     .action = OptionAction::kRunner,
     .constant = "trt",
     .help = "Add a TensorRT runner.",
     .standing = Standing::kBetter,
     .note = "Several of them in one run are allowed."},
#define VERNIER_ONNX_RUNTIME(name, package, text, enables) \
  {.flags = {"--" name},                                   \
   .dest = "runners",                                      \
   .action = OptionAction::kRunner,                        \
   .constant = name,                                       \
   .help = text,                                           \
   .origin = Origin::kOurs},
#include "backend/known/onnx_runtimes.def"
#undef VERNIER_ONNX_RUNTIME
    {.flags = {"--onnxref", "--onnx"},
     .dest = "runners",
     .action = OptionAction::kRunner,
     .constant = "onnxref",
     .help =
         "Add the ONNX reference evaluator (the onnx Python package): the plain, slow definition"
         " of every operator.",
     .origin = Origin::kOurs},
    {.flags = {"--torch"},
     .dest = "runners",
     .action = OptionAction::kRunner,
     .constant = "torch",
     .help = "Add a PyTorch runner: TorchScript and torch.export models, and pickled modules with"
             " --allow-pickle.",
     .origin = Origin::kOurs},
    {.flags = {"--torch-lib"},
     .dest = "torch_lib",
     .sets = LoadOption("torch", "lib"),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "PATH",
     .help = "PyTorch's libtorch.so, or its folder, for the TorchScript plug-in.",
     .origin = Origin::kOurs,
     .needs = {"--torch"}},
    {.flags = {"--torch-in"},
     .dest = "torch_in",
     .sets = SetBy<&SetTorchPlace, &TorchPlaceWords>().For("torch"),
     .arity = Arity::kOne,
     .choices = kTorchPlaces,
     .fallback = "auto",
     .metavar = "PLACE",
     .help = "What runs --torch: plugin (TorchScript without Python, with the PyTorch version that"
             " vernier was built against), python (the torch package of --python), or auto: the"
             " plug-in if it fits, otherwise Python.",
     .origin = Origin::kOurs,
     .needs = {"--torch"}},
    {.flags = {"--torch-outputs"},
     .dest = "torch_outputs",
     .sets = SetBy<&SetTorchOutputs>().Named("output_names").For("torch"),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Names for the outputs of --torch, in order; TorchScript files contain no names.",
     .origin = Origin::kOurs,
     .needs = {"--torch"}},
    {.flags = {"--allow-pickle"},
     .dest = "allow_pickle",
     .sets = SessionOption("torch", "allow_pickle"),
     .help = "Let --torch load pickled modules. A pickle can execute arbitrary code: use this only"
             " for files that you trust.",
     .origin = Origin::kOurs,
     .needs = {"--torch"}},
    {.flags = {"--identity"},
     .dest = "runners",
     .action = OptionAction::kRunner,
     .constant = "identity",
     .help = "Add a runner that returns its inputs, to try things out without a framework.",
     .origin = Origin::kOurs},
    {.flags = {"--identity-device"},
     .dest = "identity_device",
     .sets = SessionOption("identity", "device"),
     .arity = Arity::kOne,
     .fallback = "cpu",
     .metavar = "DEVICE",
     .help =
         "Where the identity runner leaves its outputs: cpu, or cuda for the memory of the first"
         " GPU.",
     .origin = Origin::kOurs,
     .needs = {"--identity"}},
    {.flags = {"--model-runner"},
     .dest = "runners",
     .arity = Arity::kOne,
     .action = OptionAction::kRunner,
     .constant = "model-runner",
     .metavar = "SCRIPT.py[:FUNCTION]|PROGRAM",
     .help =
         "Add a Python model or a program as a runner. A script defines load(model_path), which"
         " returns a function of one feed or an object with infer(feed), or it defines infer"
         " itself. A program, with its arguments, reads one feed as JSON and writes one result as"
         " JSON: through its standard streams, or through files if its arguments contain {input}"
         " and {output}.",
     .origin = Origin::kOurs},
    {.flags = {"--runner"},
     .dest = "runners",
     .arity = Arity::kOne,
     .action = OptionAction::kRunner,
     .constant = "runner",
     .metavar = "LABEL='BACKEND [MODEL] [OPTIONS]'",
     .help =
         "Add a runner with a label and, optionally, a model and options of its own, for example"
         " --runner fp16='trt --fp16'. --python among its options sets the interpreter of this"
         " runner or, for a plug-in, the environment whose library it loads.",
     .origin = Origin::kOurs},
    {.flags = {"--pairs"},
     .dest = "pairs",
     .sets = Sets<&RunPlan::pairs>(),
     .arity = Arity::kOne,
     .fallback = "neighbours",
     .metavar = "WHICH",
     .help = "Which runners to compare: neighbours, first (each against the first), all, or a list"
             " LABEL:LABEL,... of runners.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides}},
    {.flags = {"--reference"},
     .dest = "reference",
     .sets = Sets<&BlameOptions::reference>(),
     .in_package = InPackage::kOfBlame,
     .arity = Arity::kOne,
     .metavar = "LABEL",
     .help = "The runner that serves as the reference. Blame never names it. Does not affect"
             " tolerances.",
     .origin = Origin::kOurs,
     .needs = {"--blame"}},
};

constexpr NumberRule kSeconds = {
    .expected = "seconds >= 0", .least = 0, .most = std::numeric_limits<double>::max()};

Status SetVariable(const OptionInput& input, ExecutionPlan& execution) {
  const std::string word = TextOf(input);
  if (word.find('=') == 0 || word.find('=') == std::string::npos) {
    return InvalidArgument("--env: expected NAME=VALUE, got '" + word + "'");
  }
  execution.environment.push_back(word);
  return {};
}

constexpr OptionRow kWorkers[] = {
    {.flags = {"--timeout"},
     .dest = "timeout",
     .sets = Sets<&ExecutionPlan::timeout_s>(kSeconds),
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .metavar = "SECONDS",
     .help = "Stop a runner if opening it or one inference takes longer than this.",
     .origin = Origin::kOurs},
    {.flags = {"--python"},
     .dest = "python",
     .sets = Sets<&ExecutionPlan::python>().OfRunner(),
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .fallback = "that of $VIRTUAL_ENV, else python3 on PATH",
     .metavar = "INTERPRETER",
     .help = "The Python interpreter (3.9 or newer, with NumPy) for scripts and models in Python.",
     .origin = Origin::kOurs},
    {.flags = {"--parallel"},
     .dest = "parallel",
     .sets = Sets<&ExecutionPlan::parallel>(),
     .help = "Let all runners infer an iteration at the same time, each in a process of its own."
             " Outputs and verdicts are the same, but latencies are those of a busy machine.",
     .origin = Origin::kOurs},
    {.flags = {"--in-process"},
     .dest = "in_process",
     .sets = Sets<&ExecutionPlan::in_process>(),
     .help = "Load the frameworks into this process instead of workers, for debugging. A framework"
             " that crashes then ends the whole run.",
     .origin = Origin::kOurs},
    {.flags = {"--backend-dir"},
     .dest = "backend_dir",
     .sets = Sets<&ExecutionPlan::backend_dirs>(),
     .files = FileUse::kUnchecked,
     .in_api = InApi::kYes,
     .arity = Arity::kOne,
     .action = OptionAction::kAppend,
     .metavar = "DIR",
     .help = "Search DIR for backend plug-ins first. May be repeated.",
     .origin = Origin::kOurs},
    {.flags = {"--env"},
     .dest = "env",
     .sets = SetBy<&SetVariable, &ExecutionPlan::environment>(),
     .arity = Arity::kOne,
     .action = OptionAction::kAppend,
     .metavar = "NAME=VALUE",
     .help = "Set an environment variable for the frameworks, for example OMP_NUM_THREADS=1 or"
             " CUDA_VISIBLE_DEVICES=1, without changing vernier's own. May be repeated.",
     .origin = Origin::kOurs,
     .excludes = {"in_process"}},
};

}  // namespace

OptionGroup RunnerGroup() {
  return {"Runners", "choosing what runs the model, in order", kRunners};
}

OptionGroup WorkerGroup() {
  return {"Workers", "the processes that the frameworks run in", kWorkers};
}

}  // namespace vernier
