// One model to another file. Each target has a function of its own.
#include <algorithm>

#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/commands/python_tools.h"
#include "cli/table/commands.h"
#include "inference/converting.h"
#include "model/onnx/model_type.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_run.h"
#include "options/bind/bind_tensorflow.h"
#include "options/bind/bind_tensorrt.h"
#include "options/bind/file_conflicts.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/groups.h"
#include "report/text/waiting_line.h"
#include "run/runner/resolve_runner.h"

namespace vernier {
namespace {

struct Conversion {
  const ParsedArgs& args;
  ModelPlan model;
  ConversionPlan plan;
  Logger& log;
};

Result<ConversionTarget> TargetOf(const std::string& output) {
  const std::optional<ModelType> type = ModelTypeFromExtension(output);
  if (!type) {
    return InvalidArgument("Could not automatically determine model type based on output path: " +
                           output + "\nPlease specify the desired output format with --convert-to");
  }
  if (*type == ModelType::kOnnx) return ConversionTarget::kOnnx;
  if (*type == ModelType::kEngine) return ConversionTarget::kEngine;
  return InvalidArgument("Cannot convert to model type: " + std::string(ModelTypeName(*type)));
}

Result<ModelPlan> FindModel(const ParsedArgs& args, ConversionTarget target, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(ModelPlan model, BindModel(args));
  ModelTypeHints hints;
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  RunnerPlan source;
  (void)BindOptions(args, {}, {source});  // refused where the model is known to be TensorFlow's
  hints.checkpoint_given = HasOption(source, "ckpt");
  const ModelPath path = SplitModelPath(model.path);
  if (!path.exists) WarnOfMissingModel(path.path, log);
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, InferModelType(path.path, hints));
  // TensorRT 8 makes engines of UFF and Caffe.
  const std::string_view way_out =
      target == ConversionTarget::kEngine ? std::string_view() : WayOut(type);
  if (!way_out.empty()) {
    return InvalidArgument("Model type: " + std::string(ModelTypeName(type)) +
                           " could not be converted.\nNote: " + std::string(way_out));
  }
  model.path = path.path;
  model.type = std::string(ModelTypeName(type));
  return model;
}

// --fp16 beside an ONNX file is as a rule a mistake for --fp-to-fp16. Sizes and inputs are for an
// engine's profiles and its calibration. Sizes that would not be used are an error, as is a file
// that would not be written.
Status CheckForOnnxFile(const Conversion& conversion) {
  const bool lenient = conversion.model.skips_unknown_types;
  for (const GivenOption& given : conversion.args.given()) {
    const OptionRow& row = *given.row;
    const bool shapes = SetsField<&FeedWords::shapes>(row);
    if (!IsForTensorRt(row) && !shapes && !DataLoaderGroup().Has(row.dest)) continue;
    if ((shapes || row.dest.starts_with("save_")) && !lenient) {
      return InvalidArgument(
          std::string(given.flag) +
          " has no effect on an ONNX file: leave it out, or convert to an "
          "engine" +
          (shapes ? "; surgeon sanitize --override-input-shapes fixes sizes" : ""));
    }
    const bool half = row.dest == "fp16";
    conversion.log.Warning(std::string(given.flag) + " has no effect on an ONNX file" +
                           (half ? ": --fp-to-fp16 converts its tensors" : ""));
  }
  return {};
}

// Options of TensorFlow's models, where the model is none.
void WarnOfTensorFlowOptions(const Conversion& conversion) {
  for (const GivenOption& given : conversion.args.given()) {
    const auto has = [&](const OptionGroup& group) { return group.Has(given.row->dest); };
    if (std::ranges::none_of(TensorFlowGroup(), has)) continue;
    conversion.log.Warning(std::string(given.flag) +
                           " has no effect on a model that is not TensorFlow's");
  }
}

// Only an engine's profiles have sizes.
Status CheckDims(const ParsedArgs& args, ConversionTarget target) {
  if (target == ConversionTarget::kEngine || !IsGiven<&FeedWords::dims>(args)) return {};
  return InvalidArgument(std::string(FlagOf<&FeedWords::dims>(args)) +
                         " has no effect on an ONNX file, whose free dimensions stay free: leave "
                         "it out, or convert to an engine");
}

bool IsTensorFlows(const ModelPlan& model) {
  const std::optional<ModelType> type = ModelTypeFromName(model.type);
  return type && IsTensorFlowModel(*type);
}

// By TensorRT's own Python module: what its parser makes of the model, for viewers of ONNX files.
Status WriteNetwork(const Conversion& conversion, ConsoleLog& log) {
  if (IsTensorFlows(conversion.model)) {
    return Unimplemented("--convert-to onnx-like-trt-network: convert '" + conversion.model.path +
                         "' to ONNX first, and then that");
  }
  VERNIER_TRY(CheckFileConflicts(conversion.args, "output"));
  return RunPythonTool("convert", "network_onnx", conversion.args, log);
}

// TensorRT's plug-in builds, and saves what it built. By then TensorFlow's models are ONNX.
Result<RunPlan> BindBuild(const Conversion& conversion) {
  ModelPlan built = conversion.model;
  if (IsTensorFlows(built)) built.type = std::string(ModelTypeName(ModelType::kOnnx));
  return BindEngineBuild(conversion.args, built, conversion.plan.output, conversion.log);
}

Status BindConversion(Conversion& conversion) {
  const ParsedArgs& args = conversion.args;
  ConversionPlan& plan = conversion.plan;
  plan.source.model = conversion.model;
  VERNIER_TRY(BindWorkers(args, plan.execution));
  if (IsTensorFlows(conversion.model)) {
    VERNIER_TRY(BindOptions(args, {}, {plan.source}));
  } else {
    WarnOfTensorFlowOptions(conversion);
  }
  if (plan.target == ConversionTarget::kOnnx) VERNIER_TRY(CheckForOnnxFile(conversion));
  if (plan.target == ConversionTarget::kEngine) {
    VERNIER_ASSIGN_OR_RETURN(plan.build, BindBuild(conversion));
  }
  return {};
}

Status Convert(const ParsedArgs& args, bool as_polygraphy, ConsoleLog& log) {
  Conversion conversion{args, {}, {}, log};
  ConversionPlan& plan = conversion.plan;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {plan}));
  if (!plan.target) {
    VERNIER_ASSIGN_OR_RETURN(plan.target, TargetOf(plan.output));
  }
  VERNIER_TRY(CheckDims(args, *plan.target));
  VERNIER_ASSIGN_OR_RETURN(conversion.model, FindModel(args, *plan.target, log));
  // Polygraphy clamps weights, and skips operators that are not there.
  if (as_polygraphy || ReadField<&Leniency::lenient>(args)) {
    conversion.model.fp16_clamps = conversion.model.skips_unknown_types = true;
  }
  if (plan.target == ConversionTarget::kOnnxLike) return WriteNetwork(conversion, log);
  VERNIER_TRY(BindConversion(conversion));
  WaitingLine line(!ReadField<&LogWords::no_progress>(args));
  return ConvertModel(plan, WatchSignals(), log, [&line](auto seconds) { line.Show(seconds); });
}

int ConvertCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kConvertCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(Convert(start.args, invocation.as_polygraphy, *start.log), invocation,
                    *start.log);
}

}  // namespace

constexpr CommandSpec kConvertCommand = {
    .name = "convert",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "convert a model: other outputs, float16, external weights, or an engine",
    .about =
        "Write an ONNX model with other outputs, inferred shapes, float16 instead of float32, or"
        " weights stored elsewhere. Weights are not loaded, so models of any size can be converted."
        " TensorFlow models are converted by tf2onnx in your Python. A TensorRT engine can be"
        " built, too. The extension of FILE decides what is written.",
    .options = ConvertOptionTable,
    .run = ConvertCommand,
};

}  // namespace vernier
