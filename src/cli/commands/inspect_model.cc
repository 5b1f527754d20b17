// The graph of a model as text, and the layers of an engine.
#include <algorithm>

#include "cli/bind_run.h"
#include "cli/bind_tensorrt.h"
#include "cli/commands/activations.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "model/model_type.h"
#include "report/engine_text.h"
#include "report/model_text.h"
#include "run/engine_build.h"

namespace vernier {
namespace {

bool Shows(const ParsedArgs& args, std::string_view what) {
  const std::span<const std::string> words = args.List("show");
  return std::find(words.begin(), words.end(), what) != words.end();
}

// Options of graphs say nothing of engines.
Status CheckEngineOptions(const ParsedArgs& args) {
  for (const std::string_view dest :
       {"layer", "external_data_dir", "load_outputs_paths", "runners"}) {
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
  plan.runners.push_back(std::move(runner));
  VERNIER_TRY(BindWorkers(args, plan.execution));
  log.Info("Loading bytes from " + path);
  VERNIER_ASSIGN_OR_RETURN(
      const EngineRecord engine,
      DescribeEngineFile(plan, WatchSignals(), log).Annotate("engine '" + path + "'"));
  if (Shows(args, "layers") && !engine.detailed) {
    log.Warning(
        "The engine was built with a profiling verbosity that keeps the names of layers "
        "alone; build it with --profiling-verbosity detailed to see more.");
  }
  EngineTextOptions options;
  options.layers = Shows(args, "layers");
  options.attributes = Shows(args, "attrs");
  log.Info("==== TensorRT Engine ====\n" + FormatEngine(engine, options));
  return {};
}

Status InspectOnnx(const ParsedArgs& args, const Invocation& invocation, const std::string& path,
                   ConsoleLog& log) {
  log.Info("Loading model: " + path);
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, OnnxModel::Open(path));
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
  VERNIER_TRY(model.CheckIntact());
  log.Info("==== ONNX Model ====\n" + text);
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
