// template trt-network, trt-config, onnx-gs: Python scripts to be filled in by hand.
#include <string>

#include "cli/bind_model.h"
#include "cli/bind_run.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/file_conflicts.h"
#include "cli/script/python_templates.h"
#include "model/model_type.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

// A TensorFlow model would have to become ONNX first.
Status CheckModel(const ModelPlan& model, bool checkpoint) {
  if (checkpoint) {
    return InvalidArgument(
        "--ckpt: a TensorFlow checkpoint cannot begin a template; `vernier convert --ckpt` makes an"
        " ONNX model of it");
  }
  if (model.path.empty() || model.path.find(".py") != std::string::npos) return {};
  ModelTypeHints hints;
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, InferModelType(model.path, hints));
  if (type == ModelType::kOnnx) return {};
  return InvalidArgument("Model type: " + std::string(ModelTypeName(type)) +
                         " cannot begin a template; `vernier convert` makes an ONNX model of it");
}

Status WriteTemplate(PythonTemplate kind, const ParsedArgs& args, const Invocation& invocation,
                     ConsoleLog& log) {
  // A script is no model: nobody wants it in the place of one.
  VERNIER_TRY(CheckFileConflicts(args, "output"));
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan model, BindModel(args));
  VERNIER_TRY(CheckModel(model, args.Has("ckpt")));
  for (const std::string_view dest : {"tf_outputs", "freeze_graph", "opset"}) {
    if (!args.Has(dest)) continue;
    log.Warning(std::string(args.Flag(dest)) + " has no effect: this is no TensorFlow model");
  }
  if (kind == PythonTemplate::kGraph && model.path.empty()) {
    return InvalidArgument("template onnx-gs: no model file was given");
  }
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, BindEngineBuild(args, model, "", log));
  const bool random =
      args.Has("int8") && plan.inputs.load_paths.empty() && !plan.inputs.script.given();
  if (kind == PythonTemplate::kConfig && random) {
    log.Warning(
        "Int8 Calibration is using randomly generated input data.\nThis could negatively impact"
        " accuracy if the inference-time input data is dissimilar to the randomly generated"
        " calibration data.\nYou may want to consider providing real data via the"
        " --data-loader-script option.");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string text,
                           WritePythonTemplate(kind, plan, args, invocation));
  const std::string path(*args.Value("output"));
  log.Info("Writing script to: " + path);
  return WriteFileAtomically(path, text);
}

int RunTemplate(const char* name, PythonTemplate kind, std::span<const std::string> words,
                const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand(name), words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(WriteTemplate(kind, start.args, invocation, *start.log), invocation,
                    *start.log);
}

}  // namespace

int TemplateNetworkCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunTemplate("template trt-network", PythonTemplate::kNetwork, words, invocation);
}

int TemplateConfigCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunTemplate("template trt-config", PythonTemplate::kConfig, words, invocation);
}

int TemplateGraphCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunTemplate("template onnx-gs", PythonTemplate::kGraph, words, invocation);
}

}  // namespace vernier
