// The graph of a model as text, and the layers of an engine.
#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/commands/bind_inference.h"
#include "cli/commands/command_start.h"
#include "cli/commands/inspect_subject.h"
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
#include "options/table/command_words.h"
#include "options/table/document_format.h"
#include "options/table/given_field.h"
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
#include "util/log/no_log.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// What was asked, in all forms.
struct Inspection {
  const ParsedArgs& args;
  const Invocation& invocation;
  ModelPlan model;
  InspectionPlan plan;
  bool json = false;
};

Status CheckEngineRunners(const ParsedArgs& args) {
  for (const RunnerChoice& choice : args.Runners()) {
    if (choice.kind == "trt") {
      return InvalidArgument("--trt: an engine is loaded by TensorRT anyway; leave --trt out");
    }
    return InvalidArgument("--" + std::string(choice.kind) +
                           ": an engine is loaded by TensorRT alone, and shown without values");
  }
  return {};
}

bool LoadsOutputs(const ParsedArgs& args) { return IsGiven<&SavedSideWords::loaded>(args); }

// Options that change nothing would be passed over in silence.
Status CheckInputOptions(const ParsedArgs& args, ModelType type, Logger& log) {
  const bool engine = type == ModelType::kEngine;
  if (engine) VERNIER_TRY(CheckEngineRunners(args));
  const bool runs = !args.Runners().empty();
  for (const GivenOption& given : args.given()) {
    const OptionRow& row = *given.row;
    const bool feeds = SetsField<&FeedWords::shapes>(row) || SetsField<&FeedWords::dims>(row) ||
                       DataLoaderGroup().Has(row.dest);
    if (runs || !feeds) continue;
    return InvalidArgument(
        std::string(given.flag) +
        (engine ? ": an engine is shown and not run"
                : ": nothing is run; name a runner, such as --onnxrt, to see values"));
  }
  if (IsGiven<&InputPlan::iterations>(args)) {
    log.Warning("--iterations has no effect: the model runs on one feed");
  }
  return {};
}

// What a file of outputs says of an engine's tensors.
Result<std::map<std::string, TensorRange>> RangesAsAsked(const InspectionPlan& plan, Logger& log) {
  if (!plan.tensor_ranges) return std::map<std::string, TensorRange>{};
  if (!plan.parts.layers) {
    return InvalidArgument(
        "--combine-tensor-info: only with --show layers, whose tensors it is about");
  }
  return ReadTensorRanges(*plan.tensor_ranges, log).Annotate("--combine-tensor-info");
}

// The network that TensorRT's parser makes, by TensorRT's own Python module.
Status InspectNetwork(const Inspection& inspection, ConsoleLog& log) {
  if (!inspection.args.Runners().empty()) {
    return InvalidArgument(
        "a runner: not with --display-as trt, which shows a network and no values");
  }
  if (inspection.json) {
    return Unimplemented("--format json: TensorRT's network is shown as text alone");
  }
  if (inspection.plan.parts.statistics) {
    return InvalidArgument("--show stats: not with --display-as trt");
  }
  return RunPythonTool("inspect model", "network_text", inspection.args, log);
}

// The run that loads an engine; it infers nothing.
Result<RunPlan> BindEngineRun(const Inspection& inspection, Logger& log) {
  RunPlan plan;
  RunnerPlan runner;
  runner.name = "trt";
  runner.backend = "tensorrt";
  runner.model.path = inspection.model.path;
  runner.model.type = std::string(ModelTypeName(ModelType::kEngine));
  runner.session_options.emplace_back("model_type", runner.model.type);
  VERNIER_TRY(BindTensorRt(inspection.args, runner, log));
  ServeInPython(runner);
  plan.runners.push_back(std::move(runner));
  VERNIER_TRY(BindWorkers(inspection.args, plan.execution));
  return plan;
}

Status InspectEngine(const Inspection& inspection, ConsoleLog& log) {
  const ModelTextOptions& shown = inspection.plan.parts;
  if (shown.weights || shown.statistics) {
    return InvalidArgument(std::string("--show ") + (shown.weights ? "weights" : "stats") +
                           ": an engine does not show its weights");
  }
  const std::string& path = inspection.model.path;
  if (!inspection.json) log.Info("Loading bytes from " + AbsolutePath(path));
  NoLog silence;
  EngineTextOptions options;
  VERNIER_ASSIGN_OR_RETURN(
      options.ranges,
      RangesAsAsked(inspection.plan, inspection.json ? static_cast<Logger&>(silence) : log));
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, BindEngineRun(inspection, log));
  VERNIER_ASSIGN_OR_RETURN(
      const EngineRecord engine,
      DescribeEngineFile(plan, WatchSignals(), log).Annotate("engine '" + path + "'"));
  if (shown.layers && !engine.detailed && !inspection.json) {
    log.Warning(
        "The engine was built with a profiling verbosity that keeps the names of layers "
        "alone; build it with --profiling-verbosity detailed to see more.");
  }
  options.layers = shown.layers;
  options.attributes = shown.attributes;
  if (inspection.json) return PrintDocument(FormatEngineJson(engine, options));
  log.Info("==== TensorRT Engine ====\n" + FormatEngine(engine, options));
  return {};
}

// The graph as a page of its own.
Status SaveVisual(const Inspection& inspection, ConsoleLog& log) {
  const std::string& path = inspection.model.path;
  const std::string file =
      inspection.plan.page.value_or(std::filesystem::path(path).stem().string() + ".html");
  const Result<ReportFile> report = ReportFileFor("--save-visual", file);
  if (!report.ok() || report->format != ReportFormat::kHtml) {
    return InvalidArgument("--save-visual: expected a name that ends in .html, got '" + file + "'");
  }
  if (inspection.plan.port) {
    log.Warning("--visual-port has no effect: the page is a file");
  }
  RunRecord record;
  record.command = inspection.invocation.command;
  record.version = kVersion;
  record.origin =
      DescribeOrigin(inspection.args, kInspectModelCommand.options(), inspection.invocation);
  VERNIER_TRY(SaveGraphPage(path, *report, std::move(record)));
  log.Info("Viewer HTML saved to " + file);
  return {};
}

Status ShowAsJson(const Inspection& inspection, const OnnxModel& model) {
  const ParsedArgs& args = inspection.args;
  const std::string_view beside = inspection.plan.layer     ? FlagOf<&InspectionPlan::layer>(args)
                                  : LoadsOutputs(args)      ? FlagOf<&SavedSideWords::loaded>(args)
                                  : !args.Runners().empty() ? "the runner"
                                                            : "";
  if (!beside.empty()) {
    return InvalidArgument("--format json shows the whole structure and no values; leave out " +
                           std::string(beside));
  }
  std::vector<std::string_view> unbounded;
  const bool lists = inspection.plan.unbounded_sizes;
  if (lists) {
    VERNIER_ASSIGN_OR_RETURN(unbounded, TensorsWithoutBound(model));
  }
  const std::string text =
      FormatModelJson(model, inspection.plan.parts.attributes, lists ? &unbounded : nullptr);
  VERNIER_TRY(model.CheckIntact());
  return PrintDocument(text);
}

// Statistics of the tensors' values, where a runner or saved outputs have them; else empty.
Result<std::string> DescribeValues(const Inspection& inspection, const OnnxModel& model,
                                   ConsoleLog& log) {
  const ParsedArgs& args = inspection.args;
  if (!LoadsOutputs(args) && args.Runners().empty()) return std::string();
  Invocation invocation = inspection.invocation;
  invocation.reads_model = true;
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, BindRun(args, invocation, log));
  if (!plan.lenient) {
    VERNIER_TRY(RefuseSeveralShapes("--input-shapes", plan.inputs.shape_words, "inspect model"));
  }
  VERNIER_TRY(CheckRun(plan));
  VERNIER_ASSIGN_OR_RETURN(
      std::string values,
      DescribeActivations(plan, model, inspection.plan.layer.value_or(""), WatchSignals(), log));
  values.pop_back();
  return "\n\n" + values;
}

// `unread` gets the weights that were to be shown and could not be read.
Result<std::string> DescribeOnnx(const Inspection& inspection, const OnnxModel& model,
                                 std::vector<std::string>& unread, ConsoleLog& log) {
  ModelTextOptions options = inspection.plan.parts;
  options.external_data_dir = inspection.model.external_data_dir;
  options.ignore_external = inspection.model.ignore_external_data;
  options.unread = &unread;
  std::string text;
  if (inspection.plan.layer) {
    VERNIER_ASSIGN_OR_RETURN(text, FormatLayer(model, options, *inspection.plan.layer));
  } else {
    text = FormatModel(model, options);
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string values, DescribeValues(inspection, model, log));
  return text + values;
}

// As the file has it, or as the options change it.
Result<OnnxModel> OpenShown(const Inspection& inspection, Logger& log) {
  const ParsedArgs& args = inspection.args;
  const bool lowers = inspection.model.fp_to_fp16;
  if (!inspection.model.shape_inference && !lowers) {
    return OnnxModel::Open(inspection.model.path);
  }
  if (inspection.plan.draws) {
    const std::string_view flag =
        lowers ? FlagOf<&ModelPlan::fp_to_fp16>(args) : FlagOf<&ModelPlan::shape_inference>(args);
    return InvalidArgument(
        std::string(flag) +
        ": the page draws the model as it is in its file; change it with vernier convert first");
  }
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  WorkerPool pool(execution, WatchSignals(), log);
  return LoadAsAsked(args, pool, log);
}

Status InspectOnnx(const Inspection& inspection, ConsoleLog& log) {
  if (!inspection.json) log.Info("Loading model: " + AbsolutePath(inspection.model.path));
  NoLog silence;
  VERNIER_ASSIGN_OR_RETURN(
      const OnnxModel model,
      OpenShown(inspection, inspection.json ? static_cast<Logger&>(silence) : log));
  if (inspection.json) return ShowAsJson(inspection, model);
  if (inspection.plan.draws) return SaveVisual(inspection, log);
  std::vector<std::string> unread;
  VERNIER_ASSIGN_OR_RETURN(const std::string text, DescribeOnnx(inspection, model, unread, log));
  VERNIER_TRY(model.CheckIntact());
  log.Info("==== ONNX Model ====\n" + text);
  if (inspection.plan.unbounded_sizes) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string_view> unbounded,
                             TensorsWithoutBound(model));
    log.Info("Found tensors with unbounded DDS: " +
             FormatPythonList(std::vector<std::string>(unbounded.begin(), unbounded.end())));
  }
  if (unread.empty()) return {};
  return Malformed(Counted(unread.size(), "weight") + " could not be read, the first: " +
                   unread.front() + "; --ignore-external-data shows the rest without them");
}

// A script's function is named behind a colon.
Result<ModelType> TypeOf(const ModelPlan& model) {
  ModelTypeHints hints;
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  const size_t colon = model.path.find(".py:");
  return InferModelType(colon == std::string::npos ? model.path : model.path.substr(0, colon + 3),
                        hints);
}

Status Inspect(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  Inspection inspection{args, invocation, {}, {}, WantsDocument(args)};
  VERNIER_TRY(BindOptions(args, {.log = &log}, {inspection.model, inspection.plan}));
  inspection.plan.draws |= inspection.plan.page.has_value();
  if (inspection.model.path.empty()) return InvalidArgument("no model is named");
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, TypeOf(inspection.model));
  const bool network = type == ModelType::kTrtNetworkScript ||
                       (type == ModelType::kOnnx && inspection.plan.as_network);
  const InspectedSubject subject = network                      ? InspectedSubject::kNetwork
                                   : type == ModelType::kEngine ? InspectedSubject::kEngine
                                                                : InspectedSubject::kGraph;
  VERNIER_TRY(CheckSubject(args, subject, log));
  VERNIER_TRY(CheckInputOptions(args, type, log));
  if (network) return InspectNetwork(inspection, log);
  if (type == ModelType::kOnnx) return InspectOnnx(inspection, log);
  if (type == ModelType::kEngine) return InspectEngine(inspection, log);
  return Unimplemented("inspect model shows ONNX models and TensorRT engines, and '" +
                       inspection.model.path + "' is of type " + std::string(ModelTypeName(type)) +
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
