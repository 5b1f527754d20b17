// template trt-network, trt-config, onnx-gs: Python scripts to be filled in by hand.
#include <string>

#include "cli/commands/command_start.h"
#include "cli/script/python_templates.h"
#include "cli/table/commands.h"
#include "model/onnx/model_type.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_run.h"
#include "options/bind/file_conflicts.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/groups.h"
#include "options/table/option_sets.h"
#include "run/runner/resolve_runner.h"
#include "util/files/atomic_file.h"

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
  // A script must not replace the model that it is made from.
  VERNIER_TRY(CheckFileConflicts(args, "output"));
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan model, BindModel(args));
  VERNIER_TRY(CheckModel(model, ReadField<&TensorFlowWords::checkpoint>(args).has_value()));
  for (const GivenOption& given : args.given()) {
    if (!TensorFlowRefusedGroup().Has(given.row->dest) || !args.IsLast(given)) continue;
    log.Warning(std::string(given.flag) + " has no effect: this is not a TensorFlow model");
  }
  if (kind == PythonTemplate::kGraph && model.path.empty()) {
    return InvalidArgument("template onnx-gs: no model file was given");
  }
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, BindEngineBuild(args, model, "", log));
  const bool random = HasOption(plan.runners.front(), "int8") && plan.inputs.load_paths.empty() &&
                      !plan.inputs.script.given();
  if (kind == PythonTemplate::kConfig && random) {
    log.Warning(
        "Int8 Calibration is using randomly generated input data.\nThis could negatively impact"
        " accuracy if the inference-time input data is dissimilar to the randomly generated"
        " calibration data.\nYou may want to consider providing real data via the"
        " --data-loader-script option.");
  }
  VERNIER_ASSIGN_OR_RETURN(const std::string text, WritePythonTemplate(kind, plan, invocation));
  NewFile output;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {output}));
  log.Info("Writing script to: " + output.path);
  return WriteFileAtomically(output.path, text);
}

int RunTemplate(const CommandSpec& command, PythonTemplate kind, std::span<const std::string> words,
                const Invocation& invocation) {
  const CommandStart start = StartCommand(command, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(WriteTemplate(kind, start.args, invocation, *start.log), invocation,
                    *start.log);
}

int TemplateNetworkCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunTemplate(kTemplateNetworkCommand, PythonTemplate::kNetwork, words, invocation);
}

int TemplateConfigCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunTemplate(kTemplateConfigCommand, PythonTemplate::kConfig, words, invocation);
}

int TemplateGraphCommand(std::span<const std::string> words, const Invocation& invocation) {
  return RunTemplate(kTemplateGraphCommand, PythonTemplate::kGraph, words, invocation);
}

}  // namespace

constexpr CommandSpec kTemplateNetworkCommand = {
    .name = "template trt-network",
    .section = CommandSection::kTensorRt,
    .operands = "[model_file] -o FILE [options ...]",
    .summary = "write a Python script template that defines a TensorRT network",
    .about =
        "Write a script with a function load_network to fill in, which starts from a model or from"
        " an empty network. It works here and in Polygraphy, as model_file or as"
        " --trt-network-postprocess-script.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(), TemplateGroup(),
                              NewOutputOptions(), TensorRtPluginGroup(), TensorRtParserGroup(),
                              TensorRtNetworkGroup(), TensorFlowRefusedGroup()});
        },
    .run = TemplateNetworkCommand,
};

constexpr CommandSpec kTemplateConfigCommand = {
    .name = "template trt-config",
    .section = CommandSection::kTensorRt,
    .operands = "[model_file] -o FILE [options ...]",
    .summary = "write a Python script template that creates a TensorRT builder configuration",
    .about =
        "Write a script with a function load_config to fill in, which starts from the options"
        " given. It works as --trt-config-script, here and in Polygraphy.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(),
                              Only(ModelGroup(), {"model_file", "model_type", "input_shapes"}),
                              TemplateGroup(), DrawnOrReadInputOptions(), TensorRtConfigGroup()});
        },
    .run = TemplateConfigCommand,
};

constexpr CommandSpec kTemplateGraphCommand = {
    .name = "template onnx-gs",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "write a Python script template that edits an ONNX model",
    .about =
        "Write a script that loads a model with ONNX-GraphSurgeon, has a place for edits, and"
        " saves the result as MODEL_updated.onnx.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(),
                              Only(ModelGroup(), {"model_file", "model_type", "input_shapes"}),
                              TemplateGroup(), OnnxShapeInferenceGroup(), NewOutputOptions()});
        },
    .run = TemplateGraphCommand,
};

}  // namespace vernier
