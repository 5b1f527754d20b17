#include "cli/bind_runners.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "backend/python_program.h"
#include "cli/bind_model.h"
#include "cli/bind_onnxruntime.h"
#include "cli/bind_script_runner.h"
#include "cli/bind_tensorflow.h"
#include "cli/bind_tensorrt.h"
#include "cli/flag_suggestion.h"
#include "cli/option_use.h"
#include "cli/own_python.h"
#include "cli/repeated_words.h"
#include "cli/runner_kinds.h"
#include "cli/word_split.h"
#include "inputs/dim_sizes.h"
#include "model/model_type.h"

namespace vernier {
namespace {

constexpr std::string_view kTensorRt = "tensorrt";
constexpr std::string_view kTensorFlow = "tensorflow";

struct OptionBinding {
  std::string_view backend;
  std::string_view dest;
  std::string_view key;
  bool for_backend;  // of loading the framework, not of opening a model
};

constexpr OptionBinding kOptionBindings[] = {
    {"onnxruntime", "onnxrt_lib", "lib", true},
    {"onnxruntime", "providers", "providers", false},
    {"onnxruntime", "graph_optimization_level", "graph_optimization_level", false},
    {"onnxruntime", "intra_op_threads", "intra_op_threads", false},
    {"onnxruntime", "inter_op_threads", "inter_op_threads", false},
    {"identity", "identity_device", "device", false},
    {"openvino", "openvino_lib", "lib", true},
    {"openvino", "openvino_device", "device", false},
    {"openvino", "openvino_precision", "precision", false},
    {kTensorRt, "trt_lib", "lib", true},
    {"torch", "torch_lib", "lib", true},
    {"torch", "torch_outputs", "output_names", false},
};

Status BindTorch(const ParsedArgs& args, RunnerPlan& runner) {
  std::set<std::string_view> names;
  for (const std::string& name : args.List("torch_outputs")) {
    if (names.insert(name).second) continue;
    return InvalidArgument("--torch-outputs: '" + name + "' names two outputs");
  }
  if (args.Has("allow_pickle")) runner.session_options.emplace_back("allow_pickle", "1");
  // A library that is named is for the plug-in: no other PyTorch will do.
  if (args.Has("torch_lib")) runner.place = RunnerPlace::kPlugin;
  const std::string_view served = args.Value("torch_in").value_or("");
  if (served == "plugin") runner.place = RunnerPlace::kPlugin;
  if (served == "python") runner.place = RunnerPlace::kPython;
  if (served == "auto") runner.place = RunnerPlace::kAuto;
  return {};
}

Status BindBackendOptions(const ParsedArgs& args, RunnerPlan& runner, Logger& logger) {
  for (const OptionBinding& binding : kOptionBindings) {
    if (binding.backend != runner.backend) continue;
    for (const std::string& value : args.List(binding.dest)) {
      auto& options = binding.for_backend ? runner.backend_options : runner.session_options;
      options.emplace_back(binding.key, value);
    }
  }
  VERNIER_TRY(BindTensorFlow(args, runner));
  for (const PluginOption& given : args.plugin_options()) {
    if (KindOf(given.backend).backend != runner.backend) continue;
    // A plug-in says which options it has, but not which of its functions looks at them.
    runner.backend_options.emplace_back(given.option, given.value);
    runner.session_options.emplace_back(given.option, given.value);
    runner.plugin_options.push_back(given.option);
  }
  if (runner.backend == "torch") VERNIER_TRY(BindTorch(args, runner));
  if (runner.backend == "onnxruntime") VERNIER_TRY(CheckOnnxRuntimeOptions(args, logger));
  return runner.backend == kTensorRt ? BindTensorRt(args, runner, logger) : Status();
}

std::string TimeStamp(std::time_t now) {
  char text[64];
  std::tm local{};
  ::localtime_r(&now, &local);
  return {text, std::strftime(text, sizeof(text), "%x-%X", &local)};
}

// A runner's name, as the peer makes it.
std::string NameOfRunner(const std::string& prefix, std::map<std::string, int>& counters,
                         std::time_t now) {
  return prefix + "-N" + std::to_string(counters[prefix]++) + "-" + TimeStamp(now);
}

// Frameworks without a plug-in of their own: a script of ours drives them.
void BindBuiltInScript(RunnerPlan& runner) {
  if (runner.backend == kTensorRt) ServeTensorRtInPython(runner);
  if (!IsPythonBackend(runner.backend) || runner.backend == "python") return;
  runner.session_options.emplace_back("script", "builtin:" + runner.backend);
  // Looked for before anything is opened, and whose version is told.
  runner.backend_options.emplace_back("module", runner.backend == "onnxref" ? "onnx" : "torch");
}

// The flags that may stand inside of --runner: those that say something about one runner.
bool BelongsToRunner(std::string_view dest) {
  constexpr std::string_view kModelDests[] = {"model_file",
                                              "model_type",
                                              "external_data_dir",
                                              "strict_external_data",
                                              "onnx_outputs",
                                              "onnx_exclude_outputs",
                                              "onnx_outputs_by_type",
                                              "mark_all",
                                              "exclude_outputs",
                                              "fp_to_fp16",
                                              "do_shape_inference",
                                              "allow_onnxruntime",
                                              "ignore_external_data",
                                              "opset",
                                              "allow_pickle",
                                              "torch_in",
                                              "python",
                                              "dims"};
  const auto is_dest = [&](const auto& d) { return d == dest; };
  return std::any_of(std::begin(kModelDests), std::end(kModelDests), is_dest) ||
         IsTensorRtDest(dest) || IsTensorFlowDest(dest) ||
         std::any_of(std::begin(kOptionBindings), std::end(kOptionBindings),
                     [&](const OptionBinding& b) { return b.dest == dest; });
}

bool MeansAll(const std::vector<std::string>& words) {
  return words == std::vector<std::string>{"*"} || words == std::vector<std::string>{"mark", "all"};
}

// What is asked to be seen, in the words of --onnx-outputs: names of a script's own making.
void PassMarks(const std::vector<std::string>& words, RunnerPlan& runner) {
  // A script may read what nobody else knows.
  if (runner.backend != "python" && runner.backend != "torch") return;
  const std::vector<std::string> all = {"*"};
  for (const std::string& word : MeansAll(words) ? all : words) {
    runner.session_options.emplace_back("mark", word);
  }
}

// "'--intra-threads' is not an option of a runner; did you mean --intra-op-threads?"
std::string UnknownRunnerOption(const OptionTable& table, const std::string& word) {
  const std::string text = "'" + word + "' is not an option of a runner";
  const std::optional<std::string> near = SuggestFlag(table, word);
  const FlagEntry* entry = near ? table.Find(*near) : nullptr;
  if (entry == nullptr) return text;
  const OptionRow& row = *entry->row;
  if (row.action == OptionAction::kRunner) {
    return text + "; its backend is the first word, as in x='" + std::string(row.constant) + "'";
  }
  return BelongsToRunner(row.dest) ? text + "; did you mean " + *near + "?" : text;
}

// Options that another runner, or none, would have.
Status CheckLabelledOptions(const OptionTable& table, const ParsedArgs& own,
                            const LabelledRunner& split, bool lenient, Logger& logger) {
  const std::string where = "--runner " + split.label + ": ";
  for (const GivenOption& given : own.given()) {
    if (BelongsToRunner(given.row->dest)) continue;
    return InvalidArgument(where + "'" + std::string(given.flag) +
                           "' applies to the whole run: give it outside of --runner");
  }
  if (lenient) return {};
  const std::string_view kind = RunnerFlagWord(split.backend);
  for (const Status& status : {CheckRepeatedWords(own), CheckRunnerOptions(table, own, kind)}) {
    if (!status.ok()) return InvalidArgument(where + status.message());
  }
  for (const std::string& text : RepeatedValueWarnings(own)) logger.Warning(where + text);
  return {};
}

// `--runner LABEL='BACKEND [MODEL] [OPTIONS]'`: the run's own options, then the runner's.
Result<RunnerPlan> BindLabelled(const std::string& text, const ParsedArgs& run_args,
                                const ModelPlan& run_model, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const LabelledRunner split, SplitRunner(text));
  const std::string where = "--runner " + split.label + ": ";
  const OptionTable table = RunOptionTable();
  ParseResult parsed = ParseCommandLine(table, split.words);
  TakePluginOptions(parsed);
  if (parsed.end != ParseEnd::kParsed) return InvalidArgument(where + parsed.error);
  if (!parsed.unknown.empty()) {
    return InvalidArgument(where + UnknownRunnerOption(table, parsed.unknown.front()));
  }
  RunnerPlan runner;
  runner.name = split.label;
  if (split.backend == "python") {
    return InvalidArgument(
        where + "a model in Python is named by its script alone: " + split.label + "='runner.py'");
  }
  if (IsPythonScript(split.backend) || IsProgramPath(split.backend)) {
    VERNIER_TRY(BindModelRunner(split.backend, runner));
  } else {
    VERNIER_TRY(CheckBackendName(split.label, split.backend, run_args));
    runner.backend = std::string(KindOf(split.backend).backend);
    BindBuiltInScript(runner);
  }
  VERNIER_TRY(CheckLabelledOptions(table, parsed.args, split, run_args.Has("lenient"), logger));
  VERNIER_TRY(BindBackendOptions(run_args, runner, logger));
  VERNIER_TRY(BindBackendOptions(parsed.args, runner, logger));
  VERNIER_TRY(BindOwnPython(parsed.args, where, runner));
  VERNIER_ASSIGN_OR_RETURN(runner.dims, ParseDimSizes(parsed.args.List("dims")));
  VERNIER_ASSIGN_OR_RETURN(runner.model, BindModel(parsed.args));
  if (runner.model.path.empty()) {
    ModelPlan own = std::move(runner.model);
    runner.model = run_model;
    if (!own.outputs.empty()) runner.model.outputs = own.outputs;
    runner.model.fp_to_fp16 |= own.fp_to_fp16;
    runner.model.shape_inference |= own.shape_inference;
    runner.model.symbolic_inference &= own.symbolic_inference;
    runner.model.ignore_external_data |= own.ignore_external_data;
    PassMarks(runner.model.outputs, runner);
  } else if (!runner.model.edited()) {
    // Names of the run are those of its model; this one's may be others.
    if (MeansAll(run_model.outputs)) PassMarks(run_model.outputs, runner);
    // What is marked for the run is marked in every runner's model.
    runner.model.outputs = run_model.outputs;
    runner.model.exclude_outputs = run_model.exclude_outputs;
    runner.model.outputs_by_type = run_model.outputs_by_type;
  } else {
    PassMarks(runner.model.outputs, runner);
  }
  return runner;
}

// Backends that read ONNX take TensorFlow's models converted.
Status ResolveForOnnx(ModelType type, const std::string& extra, RunnerPlan& runner) {
  ModelPlan& model = runner.model;
  // Out-of-tree backends may read what they like.
  constexpr std::string_view kReadOnnx[] = {"onnxruntime", "pluginref", "onnxref",
                                            "openvino",    kTensorRt,   "identity"};
  const bool reads_onnx =
      std::find(std::begin(kReadOnnx), std::end(kReadOnnx), runner.backend) != std::end(kReadOnnx);
  const bool converted = reads_onnx && IsTensorFlowModel(type);
  const bool needs_onnx = reads_onnx && runner.backend != kTensorRt &&
                          runner.backend != "openvino" && runner.backend != "identity";
  if (converted) {
    ConvertToOnnx(runner);
  } else if (needs_onnx && type != ModelType::kOnnx) {
    return InvalidArgument("Model type: " + model.type +
                           " could not be converted to an ONNX model.");
  }
  if (runner.backend != kTensorRt) return {};
  BindTensorRtModel(converted ? ModelType::kOnnx : type, extra, runner);
  // Outputs marked in the ONNX file are the other runners'; TensorRT's are --trt-outputs.
  model.outputs.clear();
  model.exclude_outputs.clear();
  model.outputs_by_type.clear();
  return {};
}

// Finds the file and its type; what the runner's backend cannot take is an error here, before any
// framework loads.
Status ResolveModel(RunnerPlan& runner, Logger& logger) {
  ModelPlan& model = runner.model;
  if (model.path.empty()) return {};  // CheckRun says so
  ModelTypeHints hints;
  hints.tensorflow_runner = runner.backend == kTensorFlow;
  hints.checkpoint_given = HasOption(runner, "ckpt");
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  const ModelPath path = SplitModelPath(model.path);
  if (!path.exists) WarnOfMissingModel(path.path, logger);
  const Result<ModelType> inferred = InferModelType(path.path, hints);
  model.path = path.path;
  const bool opaque = runner.backend == "python" || runner.backend == "torch";
  if (!inferred.ok() && opaque) return {};
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, inferred);
  model.type = std::string(ModelTypeName(type));
  // TensorRT 8 reads UFF and Caffe; newer plug-ins say what to do instead.
  const bool tries = opaque || runner.backend == kTensorRt;
  if (const std::string_view way_out = WayOut(type); !way_out.empty() && !tries) {
    return InvalidArgument(
        "Model type: " + model.type +
        " could not be converted to an ONNX model.\nNote: " + std::string(way_out));
  }
  // The names of an ONNX model's tensors are not a script's, but `all` may be of both.
  if (type == ModelType::kOnnx && !MeansAll(model.outputs)) {
    std::erase_if(runner.session_options,
                  [](const auto& option) { return option.first == "mark"; });
  }
  if (runner.backend != kTensorFlow) return ResolveForOnnx(type, path.extra, runner);
  ResolveTensorFlow(type, runner);
  return {};
}

// An option of a backend that no runner has would pass in silence.
Status CheckPluginOptions(const ParsedArgs& args, const RunPlan& plan) {
  for (const PluginOption& given : args.plugin_options()) {
    const std::string_view backend = KindOf(given.backend).backend;
    const bool used = std::any_of(plan.runners.begin(), plan.runners.end(),
                                  [&](const RunnerPlan& r) { return r.backend == backend; });
    if (used) continue;
    return InvalidArgument("--" + given.backend + "." + given.option +
                           ": no runner of this run "
                           "has the backend '" +
                           given.backend + "'");
  }
  return {};
}

// A path that leads to its file from any folder; a program that PATH has stays a name.
std::string FromAnywhere(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return path;
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

Result<LabelledRunner> SplitRunner(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string usage =
      "--runner: expected LABEL='BACKEND [MODEL] [OPTIONS]', got '" + text + "'";
  if (equals == 0 || equals == std::string::npos) return InvalidArgument(usage);
  Result<std::vector<std::string>> split = SplitWords(text.substr(equals + 1));
  if (!split.ok()) {
    return InvalidArgument("--runner " + text.substr(0, equals) + ": " + split.status().message());
  }
  std::vector<std::string> words = *std::move(split);
  if (words.empty()) return InvalidArgument(usage);
  LabelledRunner runner{text.substr(0, equals), words.front(), {}};
  runner.words.assign(words.begin() + 1, words.end());
  return runner;
}

std::vector<std::string> RunnerWords(const RunnerPlan& runner) {
  std::vector<std::string> words;
  for (const RunnerKind& kind : RunnerKinds()) {
    if (kind.backend == runner.backend) words.push_back("--" + std::string(kind.flag_word));
  }
  for (const auto& [key, value] : runner.session_options) {
    if (runner.backend == "python" && key == "script")
      words = {"--model-runner", FromAnywhere(value)};
    if (runner.backend == "python" && key == "function") words.back() += ":" + value;
  }
  const OptionTable table = RunOptionTable();
  const auto add = [&](const auto& options, bool for_backend) {
    for (const auto& [key, value] : options) {
      for (const OptionBinding& binding : kOptionBindings) {
        if (binding.backend != runner.backend || binding.key != key) continue;
        const OptionRow* row = table.FindDest(binding.dest);
        if (binding.for_backend != for_backend || row == nullptr) continue;
        words.emplace_back(row->flags[0]);
        const bool is_path = row->metavar == "FILE" || row->metavar == "PATH";
        words.push_back(is_path ? FromAnywhere(value) : value);
      }
    }
  };
  add(runner.backend_options, true);
  add(runner.session_options, false);
  return words;
}

Status BindRunners(const ParsedArgs& args, std::time_t now, RunPlan& plan, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan run_model, BindModel(args));
  const ModelPath run_path = SplitModelPath(run_model.path);
  if (!run_model.path.empty() && !run_path.exists) WarnOfMissingModel(run_path.path, logger);
  std::map<std::string, int> counters;
  for (const RunnerChoice& choice : args.Runners()) {
    RunnerPlan runner;
    if (choice.kind == "runner") {
      VERNIER_ASSIGN_OR_RETURN(runner, BindLabelled(choice.value, args, run_model, logger));
    } else if (choice.kind == "model-runner") {
      VERNIER_TRY(BindModelRunner(choice.value, runner));
      runner.name = NameOfRunner(ModelRunnerStem(runner), counters, now);
      runner.model = run_model;
      PassMarks(run_model.outputs, runner);
    } else {
      const RunnerKind kind = KindOf(choice.kind);
      runner.name = NameOfRunner(std::string(kind.name_prefix), counters, now);
      runner.backend = kind.backend;
      runner.model = run_model;
      VERNIER_TRY(BindBackendOptions(args, runner, logger));
      BindBuiltInScript(runner);
      PassMarks(run_model.outputs, runner);
    }
    VERNIER_TRY(ResolveModel(runner, logger));
    const bool taken = std::any_of(plan.runners.begin(), plan.runners.end(),
                                   [&](const RunnerPlan& r) { return r.name == runner.name; });
    if (taken) return InvalidArgument("--runner: the label '" + runner.name + "' is used twice");
    plan.runners.push_back(std::move(runner));
  }
  VERNIER_TRY(CheckTensorFlowUse(args, plan, logger));
  return CheckPluginOptions(args, plan);
}

}  // namespace vernier
