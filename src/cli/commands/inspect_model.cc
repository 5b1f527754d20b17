// The graph of a model as text, and the layers of an engine.
#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/commands/bind_inference.h"
#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/commands/print_document.h"
#include "cli/commands/python_tools.h"
#include "cli/table/commands.h"
#include "core/version.h"
#include "inference/activations.h"
#include "inference/inspection.h"
#include "inputs/shape_grid.h"
#include "model/onnx/model_type.h"
#include "options/bind/bind_run.h"
#include "options/bind/bind_tensorrt.h"
#include "options/bind/describe_origin.h"
#include "options/table/groups.h"
#include "options/table/option_sets.h"
#include "report/files/report_files.h"
#include "report/models/engine_json.h"
#include "report/models/engine_text.h"
#include "report/models/model_json.h"
#include "report/models/model_text.h"
#include "run/engine/engine_build.h"
#include "run/runner/resolve_runner.h"
#include "surgeon/upper_bounds.h"
#include "util/counted.h"
#include "util/no_log.h"
#include "util/number_text.h"

namespace vernier {
namespace {

bool Shows(const ParsedArgs& args, std::string_view what) {
  const std::span<const std::string> words = args.List("show");
  return std::find(words.begin(), words.end(), what) != words.end();
}

Status CheckEngineRunners(const ParsedArgs& args) {
  for (const RunnerChoice& choice : args.Runners()) {
    if (choice.kind == "trt") {
      return InvalidArgument("--trt: an engine is loaded by TensorRT anyway; leave --trt away");
    }
    return InvalidArgument("--" + std::string(choice.kind) +
                           ": an engine is loaded by TensorRT alone, and shown without values");
  }
  return {};
}

// Options that change nothing would be passed over in silence.
Status CheckInputOptions(const ParsedArgs& args, ModelType type, Logger& log) {
  const bool engine = type == ModelType::kEngine;
  if (engine) VERNIER_TRY(CheckEngineRunners(args));
  const bool runs = !args.Runners().empty();
  for (const GivenOption& given : args.given()) {
    const std::string_view dest = given.row->dest;
    const bool feeds = dest == "input_shapes" || dest == "dims" || DataLoaderGroup().Has(dest);
    if (runs || !feeds) continue;
    return InvalidArgument(
        std::string(given.flag) +
        (engine ? ": an engine is shown and not run"
                : ": nothing is run; name a runner, such as --onnxrt, to see values"));
  }
  if (args.Has("iterations")) log.Warning("--iterations has no effect: the model runs on one feed");
  return {};
}

// What a file of outputs says of an engine's tensors.
Result<std::map<std::string, TensorRange>> RangesAsAsked(const ParsedArgs& args, Logger& log) {
  const auto file = args.Value("combine_tensor_info");
  if (!file) return std::map<std::string, TensorRange>{};
  if (!Shows(args, "layers")) {
    return InvalidArgument(
        "--combine-tensor-info: only with --show layers, whose tensors it is about");
  }
  return ReadTensorRanges(std::string(*file), log).Annotate("--combine-tensor-info");
}

// Options of the network that TensorRT makes say nothing of anything else.
constexpr std::string_view kNetworkOptions[] = {"onnx_flags",
                                                "plugin_instancenorm",
                                                "enable_uint8_asymmetric_quantization_dla",
                                                "layer_precisions",
                                                "decomposable_attentions",
                                                "tensor_dtypes",
                                                "all_tensor_dtypes",
                                                "tensor_formats",
                                                "all_tensor_formats",
                                                "trt_network_postprocess_script",
                                                "strongly_typed",
                                                "mark_debug",
                                                "mark_unfused_tensors_as_debug_tensors"};
constexpr std::string_view kEngineOptions[] = {"combine_tensor_info", "load_runtime",
                                               "dla_workspace_allocation_strategy"};

Status CheckKind(const ParsedArgs& args, bool network, bool engine, Logger& log) {
  for (const std::string_view dest : kNetworkOptions) {
    if (network || !args.Has(dest)) continue;
    return InvalidArgument(std::string(args.Flag(dest)) +
                           ": only with --display-as trt, which shows TensorRT's network");
  }
  for (const std::string_view dest : kEngineOptions) {
    if (engine || !args.Has(dest)) continue;
    return InvalidArgument(std::string(args.Flag(dest)) + ": only for a TensorRT engine");
  }
  const bool trt = network || engine || !args.Runners().empty();
  for (const std::string_view dest : {"trt_lib", "plugins", "allow_engine_code"}) {
    if (trt || !args.Has(dest)) continue;
    log.Warning(std::string(args.Flag(dest)) + " has no effect: nothing needs TensorRT");
  }
  for (const std::string_view dest : {"save_timing_cache", "ckpt", "freeze_graph"}) {
    if (!args.Has(dest)) continue;
    log.Warning(
        std::string(args.Flag(dest)) + " has no effect: " +
        (dest == "save_timing_cache" ? "nothing is built" : "this is not a TensorFlow model"));
  }
  return {};
}

// The network that TensorRT's parser makes, by TensorRT's own Python module.
Status InspectNetwork(const ParsedArgs& args, ConsoleLog& log) {
  for (const std::string_view dest :
       {"layer", "load_outputs_paths", "list_unbounded_dds", "visual", "save_visual", "runners"}) {
    const bool given = dest == "runners" ? !args.Runners().empty() : args.Has(dest);
    if (!given) continue;
    return InvalidArgument((dest == "runners" ? "a runner" : std::string(args.Flag(dest))) +
                           ": not with --display-as trt, which shows a network and no values");
  }
  if (WantsDocument(args)) {
    return Unimplemented("--format json: TensorRT's network is shown as text alone");
  }
  if (Shows(args, "stats")) return InvalidArgument("--show stats: not with --display-as trt");
  return RunPythonTool("inspect model", "network_text", args, log);
}

// Options of graphs say nothing of engines.
Status CheckEngineOptions(const ParsedArgs& args) {
  for (const std::string_view dest :
       {"layer", "external_data_dir", "load_outputs_paths", "list_unbounded_dds", "visual",
        "save_visual", "do_shape_inference", "fp_to_fp16", "ignore_external_data"}) {
    if (!args.Has(dest)) continue;
    return InvalidArgument(std::string(args.Flag(dest)) + ": an engine has nothing of the kind");
  }
  for (const std::string_view what : {"weights", "stats"}) {
    if (!Shows(args, what)) continue;
    return InvalidArgument("--show " + std::string(what) + ": an engine does not show its weights");
  }
  return {};
}

Status InspectEngine(const ParsedArgs& args, const std::string& path, ConsoleLog& log) {
  VERNIER_TRY(CheckEngineOptions(args));
  const bool json = WantsDocument(args);
  if (!json) log.Info("Loading bytes from " + AbsolutePath(path));
  NoLog silence;
  EngineTextOptions options;
  VERNIER_ASSIGN_OR_RETURN(options.ranges,
                           RangesAsAsked(args, json ? static_cast<Logger&>(silence) : log));
  RunPlan plan;
  RunnerPlan runner;
  runner.name = "trt";
  runner.backend = "tensorrt";
  runner.model.path = path;
  runner.model.type = std::string(ModelTypeName(ModelType::kEngine));
  runner.session_options.emplace_back("model_type", runner.model.type);
  VERNIER_TRY(BindTensorRt(args, runner, log));
  ServeInPython(runner);
  plan.runners.push_back(std::move(runner));
  VERNIER_TRY(BindWorkers(args, plan.execution));
  VERNIER_ASSIGN_OR_RETURN(
      const EngineRecord engine,
      DescribeEngineFile(plan, WatchSignals(), log).Annotate("engine '" + path + "'"));
  if (Shows(args, "layers") && !engine.detailed && !json) {
    log.Warning(
        "The engine was built with a profiling verbosity that keeps the names of layers "
        "alone; build it with --profiling-verbosity detailed to see more.");
  }
  options.layers = Shows(args, "layers");
  options.attributes = Shows(args, "attrs");
  if (json) return PrintDocument(FormatEngineJson(engine, options));
  log.Info("==== TensorRT Engine ====\n" + FormatEngine(engine, options));
  return {};
}

// The graph as a page of its own.
Status SaveVisual(const ParsedArgs& args, const Invocation& invocation, const std::string& path,
                  ConsoleLog& log) {
  const auto given = args.Value("save_visual");
  const std::string file =
      given ? std::string(*given) : std::filesystem::path(path).stem().string() + ".html";
  const Result<ReportFile> report = ReportFileFor("--save-visual", file);
  if (!report.ok() || report->format != ReportFormat::kHtml) {
    return InvalidArgument("--save-visual: expected a name that ends in .html, got '" + file + "'");
  }
  if (args.Has("visual_port")) log.Warning("--visual-port has no effect: the page is a file");
  RunRecord record;
  record.command = invocation.command;
  record.version = kVersion;
  record.origin = DescribeOrigin(args, kInspectModelCommand.options(), invocation);
  VERNIER_TRY(SaveGraphPage(path, *report, std::move(record)));
  log.Info("Viewer HTML saved to " + file);
  return {};
}

Status ShowAsJson(const ParsedArgs& args, const OnnxModel& model) {
  for (const std::string_view dest : {"layer", "load_outputs_paths", "runners"}) {
    const bool runners = dest == "runners" && !args.Runners().empty();
    if (!runners && !args.Has(dest)) continue;
    return InvalidArgument("--format json shows the whole structure and no values; leave out " +
                           std::string(runners ? "the runner" : args.Flag(dest)));
  }
  std::vector<std::string_view> unbounded;
  if (args.Has("list_unbounded_dds")) {
    VERNIER_ASSIGN_OR_RETURN(unbounded, TensorsWithoutBound(model));
  }
  const std::string text = FormatModelJson(model, Shows(args, "attrs"),
                                           args.Has("list_unbounded_dds") ? &unbounded : nullptr);
  VERNIER_TRY(model.CheckIntact());
  return PrintDocument(text);
}

// `unread` gets the weights that were to be shown and could not be read.
Result<std::string> DescribeOnnx(const ParsedArgs& args, const Invocation& invocation,
                                 const OnnxModel& model, std::vector<std::string>& unread,
                                 ConsoleLog& log) {
  ModelTextOptions options;
  options.unread = &unread;
  options.layers = Shows(args, "layers");
  options.attributes = Shows(args, "attrs");
  options.weights = Shows(args, "weights");
  options.external_data_dir = std::string(args.Value("external_data_dir").value_or(""));
  options.ignore_external = args.Has("ignore_external_data");
  options.statistics = Shows(args, "stats");
  const std::string layer(args.Value("layer").value_or(""));
  std::string text;
  if (args.Has("layer")) {
    VERNIER_ASSIGN_OR_RETURN(text, FormatLayer(model, options, layer));
  } else {
    text = FormatModel(model, options);
  }
  if (args.Has("load_outputs_paths") || !args.Runners().empty()) {
    VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, BindRun(args, invocation, log));
    if (!plan.lenient) {
      VERNIER_TRY(RefuseSeveralShapes("--input-shapes", plan.inputs.shape_words, "inspect model"));
    }
    VERNIER_TRY(CheckRun(plan));
    VERNIER_ASSIGN_OR_RETURN(std::string activations,
                             DescribeActivations(plan, model, layer, WatchSignals(), log));
    activations.pop_back();
    text += "\n\n" + activations;
  }
  return text;
}

// Options that change the model before it is shown, where it is shown as the file has it.
Status CheckModelOptions(const ParsedArgs& args) {
  if (!args.Has("visual") && !args.Has("save_visual")) return {};
  for (const std::string_view dest : {"do_shape_inference", "fp_to_fp16"}) {
    if (!args.Has(dest)) continue;
    return InvalidArgument(std::string(args.Flag(dest)) +
                           ": the page draws the model as it is in its file; change it with "
                           "vernier convert first");
  }
  return {};
}

// As the file has it, or as the options change it.
Result<OnnxModel> OpenShown(const ParsedArgs& args, const std::string& path, Logger& log) {
  if (!args.Has("do_shape_inference") && !args.Has("fp_to_fp16")) return OnnxModel::Open(path);
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  WorkerPool pool(execution, WatchSignals(), log);
  return LoadAsAsked(args, pool, log);
}

Status InspectOnnx(const ParsedArgs& args, const Invocation& invocation, const std::string& path,
                   ConsoleLog& log) {
  const bool json = WantsDocument(args);
  if (!json) log.Info("Loading model: " + AbsolutePath(path));
  NoLog silence;
  VERNIER_TRY(CheckModelOptions(args));
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model,
                           OpenShown(args, path, json ? static_cast<Logger&>(silence) : log));
  if (json) return ShowAsJson(args, model);
  if (args.Has("visual") || args.Has("save_visual")) {
    return SaveVisual(args, invocation, path, log);
  }
  std::vector<std::string> unread;
  VERNIER_ASSIGN_OR_RETURN(const std::string text,
                           DescribeOnnx(args, invocation, model, unread, log));
  VERNIER_TRY(model.CheckIntact());
  log.Info("==== ONNX Model ====\n" + text);
  if (args.Has("list_unbounded_dds")) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string_view> unbounded,
                             TensorsWithoutBound(model));
    log.Info("Found tensors with unbounded DDS: " +
             FormatPythonList(std::vector<std::string>(unbounded.begin(), unbounded.end())));
  }
  if (unread.empty()) return {};
  return Malformed(Counted(unread.size(), "weight") + " could not be read, the first: " +
                   unread.front() + "; --ignore-external-data shows the rest without them");
}

Status Inspect(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  const std::string path(args.Value("model_file").value_or(""));
  if (path.empty()) return InvalidArgument("no model is named");
  const auto type = args.Value("model_type");
  ModelTypeHints hints;
  if (type) hints.given = ModelTypeFromName(*type);
  // A script's function is named behind a colon.
  const size_t colon = path.find(".py:");
  const std::string file = colon == std::string::npos ? path : path.substr(0, colon + 3);
  VERNIER_ASSIGN_OR_RETURN(const ModelType found, InferModelType(file, hints));
  const bool script = found == ModelType::kTrtNetworkScript;
  const bool network = script || (found == ModelType::kOnnx && args.Has("display_as"));
  VERNIER_TRY(CheckKind(args, network, found == ModelType::kEngine, log));
  VERNIER_TRY(CheckInputOptions(args, found, log));
  if (network) return InspectNetwork(args, log);
  if (found == ModelType::kOnnx) return InspectOnnx(args, invocation, path, log);
  if (found == ModelType::kEngine) return InspectEngine(args, path, log);
  return Unimplemented("inspect model shows ONNX models and TensorRT engines, and '" + path +
                       "' is of type " + std::string(ModelTypeName(found)) +
                       "; `vernier convert` makes an ONNX model of TensorFlow's");
}

int InspectModelCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kInspectModelCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(Inspect(start.args, invocation, *start.log), invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kInspectModelCommand = {
    .name = "inspect model",
    .section = CommandSection::kModels,
    .operands = "model_file [options ...]",
    .summary = "show the graph of an ONNX model or the layers of a TensorRT engine",
    .about =
        "List inputs, outputs, initializers and nodes. Weights are read only if --show weights"
        " asks for them. An engine is loaded on a GPU; its profiles and layers are shown in as much"
        " detail as it was built with.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), LoggingGroup(), ModelAndShapeOptions(), InspectGroup(),
               OnnxShapeInferenceGroup(), LoadedModelOptions(),
               Only(ComparisonGroup(), {"load_outputs_paths"}), Only(RunnerGroup(), {"runners"}),
               OneRunInputOptions(), TensorRtPluginGroup(), TensorRtParserGroup(),
               Only(TensorRtNetworkGroup(),
                    {"layer_precisions", "decomposable_attentions", "tensor_dtypes",
                     "all_tensor_dtypes", "tensor_formats", "all_tensor_formats",
                     "trt_network_postprocess_script", "strongly_typed", "mark_debug",
                     "mark_unfused_tensors_as_debug_tensors"}),
               Only(TensorRtEngineGroup(),
                    {"save_timing_cache", "load_runtime", "dla_workspace_allocation_strategy"}),
               Only(TensorFlowRefusedGroup(), {"ckpt", "freeze_graph"}),
               Only(TensorRtRunGroup(), {"trt_lib", "allow_engine_code"}), AnyWorkerOptions()});
        },
    .run = InspectModelCommand,
};

}  // namespace vernier
