// A part of a model, cut out between tensors.
#include <span>

#include "cli/commands/bind_inference.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "inference/extraction.h"
#include "model/edit/onnx_extract.h"
#include "model/onnx/onnx_model.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_onnx_save.h"
#include "options/table/command_words.h"
#include "options/table/option_sets.h"

namespace vernier {
namespace {

// What was not asked for is the model's.
ExtractPlan PlanOf(const PartRequest& part, const OnnxModel& model) {
  return {part.inputs ? *part.inputs : model.RequiredInputs(),
          part.outputs ? *part.outputs : model.Outputs()};
}

std::vector<std::string> NamesOf(std::span<const TensorInfo> infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(info.name);
  return names;
}

Status Extract(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  ExtractionPlan plan;
  PartRequest part;
  NewFile output;
  VERNIER_TRY(
      BindOptions(args, {.lenient = invocation.as_polygraphy, .log = &log}, {part, output}));
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan source, BindModel(args));
  plan.path = source.path;
  plan.output = output.path;
  plan.as_in_file = !source.shape_inference && !source.fp_to_fp16;
  log.Info("Loading model: " + AbsolutePath(plan.path));
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  WorkerPool pool(execution, WatchSignals(), log);
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, LoadAsAsked(args, pool, log));
  plan.extract = PlanOf(part, model);
  VERNIER_ASSIGN_OR_RETURN(plan.save, BindOnnxSave(args, log));
  VERNIER_TRY(
      NodesBetween(model, NamesOf(plan.extract.inputs), NamesOf(plan.extract.outputs)).status());
  VERNIER_TRY(CompleteExtractAsAsked(args, invocation, part, model, plan.extract, log));
  return ExtractPart(model, plan, log);
}

int SurgeonExtractCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto extract = [&](const ParsedArgs& args, ConsoleLog& log) {
    return Extract(args, invocation, log);
  };
  return RunModelTool(kSurgeonExtractCommand, extract, true, words, invocation);
}

}  // namespace

constexpr CommandSpec kSurgeonExtractCommand = {
    .name = "surgeon extract",
    .section = CommandSection::kModels,
    .operands = "model_file -o FILE [options ...]",
    .summary = "extract a subgraph of an ONNX model",
    .about =
        "Write the part of a model between given tensors as a model of its own, with its weights,"
        " operator sets, functions and the bodies of If, Loop and Scan. Weights are not read;"
        " external data can stay external (--save-external-data).",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), ModelFileOptions(), ExtractGroup(),
                              NewModelGroup(), OnnxShapeInferenceGroup(), OneRunInputOptions(),
                              StrictlyLoadedModelOptions(), SavedModelOptions(),
                              AnyWorkerOptions()});
        },
    .run = SurgeonExtractCommand,
};

}  // namespace vernier
