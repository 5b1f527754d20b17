// A part of a model, cut out between tensors.
#include <algorithm>
#include <span>

#include "cli/commands/bind_inference.h"
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "inference/extraction.h"
#include "inputs/shape_spec.h"
#include "model/edit/onnx_extract.h"
#include "model/onnx/onnx_model.h"
#include "options/bind/bind_onnx_save.h"
#include "options/table/option_sets.h"
#include "util/cast_grammar.h"
#include "util/number_text.h"

namespace vernier {
namespace {

Result<DType> DTypeOf(std::string_view flag, const std::string& word, std::string_view text) {
  if (ToLower(text) == "auto") return DType::kUndefined;
  if (const auto dtype = DTypeFromName(text)) return *dtype;
  return InvalidArgument(std::string(flag) + ": '" + std::string(text) + "' in '" + word +
                         "' is not a type; expected one such as float32, int64, bool, or auto");
}

Result<TensorInfo> ParseInput(const std::string& word) {
  const KeyedWord dtype = SplitAtLast(word);
  const KeyedWord shape = SplitAtLast(dtype.key);
  if (shape.key.empty() || shape.value.empty()) {
    return InvalidArgument("--inputs: expected NAME:SHAPE:DTYPE, got '" + word + "'");
  }
  TensorInfo info{shape.key, DType::kUndefined, std::nullopt};
  VERNIER_ASSIGN_OR_RETURN(info.dtype, DTypeOf("--inputs", word, Trim(dtype.value)));
  const Result<std::vector<ShapeSpec>> specs =
      ParseShapeSpecs(std::span(&dtype.key, 1), Strictness::kStrict);
  if (!specs.ok()) {
    return InvalidArgument("--inputs: expected a shape as [1,3] or auto in '" + word + "'");
  }
  info.shape = specs->front().shape;
  return info;
}

Result<TensorInfo> ParseOutput(const std::string& word) {
  const KeyedWord split = SplitAtLast(word);
  if (split.key.empty() || split.value.empty()) {
    return InvalidArgument("--outputs: expected NAME:DTYPE, got '" + word + "'");
  }
  TensorInfo info{split.key, DType::kUndefined, std::nullopt};
  VERNIER_ASSIGN_OR_RETURN(info.dtype, DTypeOf("--outputs", word, Trim(split.value)));
  return info;
}

// Polygraphy takes the last of two for one tensor without a remark.
Status RefuseSecond(std::string_view flag, std::span<const TensorInfo> infos) {
  for (const TensorInfo& info : infos) {
    if (std::ranges::count(infos, info.name, &TensorInfo::name) == 1) continue;
    return InvalidArgument(std::string(flag) + ": expected each tensor once, got '" + info.name +
                           "' again");
  }
  return {};
}

Result<ExtractPlan> BindExtract(const ParsedArgs& args, bool as_polygraphy,
                                const OnnxModel& model) {
  ExtractPlan plan;
  for (const std::string& word : args.List("input_meta")) {
    VERNIER_ASSIGN_OR_RETURN(TensorInfo info, ParseInput(word));
    plan.inputs.push_back(std::move(info));
  }
  for (const std::string& word : args.List("output_meta")) {
    VERNIER_ASSIGN_OR_RETURN(TensorInfo info, ParseOutput(word));
    plan.outputs.push_back(std::move(info));
  }
  if (!as_polygraphy) {
    VERNIER_TRY(RefuseSecond("--inputs", plan.inputs));
    VERNIER_TRY(RefuseSecond("--outputs", plan.outputs));
  }
  if (!args.Has("input_meta")) plan.inputs = model.RequiredInputs();
  if (!args.Has("output_meta")) plan.outputs = model.Outputs();
  return plan;
}

std::vector<std::string> NamesOf(std::span<const TensorInfo> infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(info.name);
  return names;
}

Status Extract(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  ExtractionPlan plan;
  plan.path = TextOf(args, "model_file");
  plan.output = TextOf(args, "output");
  log.Info("Loading model: " + AbsolutePath(plan.path));
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  WorkerPool pool(execution, WatchSignals(), log);
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, LoadAsAsked(args, pool, log));
  VERNIER_ASSIGN_OR_RETURN(plan.extract, BindExtract(args, invocation.as_polygraphy, model));
  VERNIER_ASSIGN_OR_RETURN(plan.save, BindOnnxSave(args, log));
  VERNIER_TRY(
      NodesBetween(model, NamesOf(plan.extract.inputs), NamesOf(plan.extract.outputs)).status());
  VERNIER_TRY(CompleteExtractAsAsked(args, invocation, model, plan.extract, log));
  plan.as_in_file = !args.Has("do_shape_inference") && !args.Has("fp_to_fp16");
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
