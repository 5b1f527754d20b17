// The graph of a model as text, and the layers of an engine.
#include <algorithm>
#include <filesystem>

#include "cli/bind_run.h"
#include "cli/bind_tensorrt.h"
#include "cli/command_options.h"
#include "cli/commands/activations.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/extract_shapes.h"
#include "cli/commands/interruption.h"
#include "cli/commands/origin.h"
#include "cli/commands/print_document.h"
#include "cli/commands/surgery.h"
#include "cli/version.h"
#include "model/model_type.h"
#include "report/engine_json.h"
#include "report/engine_text.h"
#include "report/model_json.h"
#include "report/model_text.h"
#include "report/report_files.h"
#include "run/engine_build.h"
#include "run/model_graph.h"
#include "surgeon/upper_bounds.h"
#include "util/no_log.h"
#include "util/number_text.h"

namespace vernier {
namespace {

bool Shows(const ParsedArgs& args, std::string_view what) {
  const std::span<const std::string> words = args.List("show");
  return std::find(words.begin(), words.end(), what) != words.end();
}

// What a model is fed with.
constexpr std::string_view kInputOptions[] = {"input_shapes",
                                              "seed",
                                              "val_range",
                                              "iterations",
                                              "data_loader_backend_module",
                                              "inputs_from_graph",
                                              "like",
                                              "load_inputs_paths",
                                              "data_loader_script",
                                              "data_loader_func_name"};

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
  for (const std::string_view dest : kInputOptions) {
    if (runs || !args.Has(dest)) continue;
    return InvalidArgument(
        std::string(args.Flag(dest)) +
        (engine ? ": an engine is shown and not run"
                : ": nothing is run; name a runner, such as --onnxrt, to see values"));
  }
  if (args.Has("iterations")) log.Warning("--iterations has no effect: the model runs on one feed");
  return {};
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
  RunPlan plan;
  RunnerPlan runner;
  runner.name = "trt";
  runner.backend = "tensorrt";
  runner.model.path = path;
  runner.model.type = std::string(ModelTypeName(ModelType::kEngine));
  runner.session_options.emplace_back("model_type", runner.model.type);
  for (const std::string& library : args.List("trt_lib")) {
    runner.backend_options.emplace_back("lib", library);
  }
  VERNIER_TRY(BindTensorRt(args, runner, log));
  ServeTensorRtInPython(runner);
  plan.runners.push_back(std::move(runner));
  VERNIER_TRY(BindWorkers(args, plan.execution));
  const bool json = WantsDocument(args);
  if (!json) log.Info("Loading bytes from " + path);
  VERNIER_ASSIGN_OR_RETURN(
      const EngineRecord engine,
      DescribeEngineFile(plan, WatchSignals(), log).Annotate("engine '" + path + "'"));
  if (Shows(args, "layers") && !engine.detailed && !json) {
    log.Warning(
        "The engine was built with a profiling verbosity that keeps the names of layers "
        "alone; build it with --profiling-verbosity detailed to see more.");
  }
  EngineTextOptions options;
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
  RunPlan plan;
  plan.runners.emplace_back();
  plan.runners.back().model.path = path;
  plan.runners.back().model.type = std::string(ModelTypeName(ModelType::kOnnx));
  RunRecord record;
  record.command = invocation.command;
  record.version = kVersion;
  record.origin = DescribeOrigin(args, InspectOptionTable(), invocation);
  record.graph = FindModelGraph(plan);
  if (!record.graph) return Malformed("'" + path + "' has no graph that can be drawn");
  VERNIER_TRY(WriteReport(*report, record));
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

Result<std::string> DescribeOnnx(const ParsedArgs& args, const Invocation& invocation,
                                 const OnnxModel& model, ConsoleLog& log) {
  ModelTextOptions options;
  options.layers = Shows(args, "layers");
  options.attributes = Shows(args, "attrs");
  options.weights = Shows(args, "weights");
  options.external_data_dir = std::string(args.Value("external_data_dir").value_or(""));
  options.statistics = Shows(args, "stats");
  const std::string layer(args.Value("layer").value_or(""));
  std::string text;
  if (args.Has("layer")) {
    VERNIER_ASSIGN_OR_RETURN(text, FormatLayer(model, options, layer));
  } else {
    text = FormatModel(model, options);
  }
  if (args.Has("load_outputs_paths") || !args.Runners().empty()) {
    VERNIER_ASSIGN_OR_RETURN(std::string activations,
                             DescribeActivations(args, invocation, model, layer, log));
    activations.pop_back();
    text += "\n\n" + activations;
  }
  return text;
}

// Options that change the model before it is shown, where it is shown as the file has it.
Status CheckModelOptions(const ParsedArgs& args) {
  const bool reads = Shows(args, "weights") || Shows(args, "stats") || args.Has("layer");
  if (args.Has("ignore_external_data") && reads) {
    return InvalidArgument("--ignore-external-data: values of weights are asked for");
  }
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
  return LoadForExtraction(args, pool, log);
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
  VERNIER_ASSIGN_OR_RETURN(const std::string text, DescribeOnnx(args, invocation, model, log));
  VERNIER_TRY(model.CheckIntact());
  log.Info("==== ONNX Model ====\n" + text);
  if (!args.Has("list_unbounded_dds")) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string_view> unbounded,
                           TensorsWithoutBound(model));
  log.Info("Found tensors with unbounded DDS: " +
           FormatPythonList(std::vector<std::string>(unbounded.begin(), unbounded.end())));
  return {};
}

Status Inspect(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  const std::string path(*args.Value("model_file"));
  const auto type = args.Value("model_type");
  ModelTypeHints hints;
  if (type) hints.given = ModelTypeFromName(*type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType found, InferModelType(path, hints));
  if (const auto other = args.Value("display_as")) {
    return Unimplemented(std::string(args.Flag("display_as")) + " " + std::string(*other) +
                         " is not in this version of vernier: a model is shown as it is");
  }
  VERNIER_TRY(CheckInputOptions(args, found, log));
  if (found == ModelType::kOnnx) return InspectOnnx(args, invocation, path, log);
  if (found == ModelType::kEngine) return InspectEngine(args, path, log);
  return Unimplemented("inspect model shows ONNX models and TensorRT engines, and '" + path +
                       "' is of type " + std::string(ModelTypeName(found)));
}

}  // namespace

int InspectModelCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("inspect model"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(Inspect(start.args, invocation, *start.log), invocation, *start.log);
}

}  // namespace vernier
