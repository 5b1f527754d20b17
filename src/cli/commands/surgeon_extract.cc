// A part of a model, cut out between tensors.
#include <span>

#include "cli/bind_inference.h"
#include "cli/bind_onnx_save.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/commands/surgery.h"
#include "cli/option_sets.h"
#include "inputs/shape_spec.h"
#include "model/edit/onnx_cut.h"
#include "model/edit/onnx_save.h"
#include "model/onnx/onnx_model.h"
#include "surgeon/editable_model.h"
#include "surgeon/graph_parts.h"
#include "util/cast_grammar.h"
#include "util/number_text.h"
#include "util/unique_fd.h"

namespace vernier {
namespace {

Result<DType> DTypeOf(std::string_view flag, const std::string& word, std::string_view text) {
  if (ToLower(text) == "auto") return DType::kUndefined;
  if (const auto dtype = DTypeFromName(text)) return *dtype;
  return InvalidArgument(std::string(flag) + ": '" + std::string(text) + "' in '" + word +
                         "' is no type; expected one as float32, int64, bool, or auto");
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

Result<CutPlan> BindCut(const ParsedArgs& args, const OnnxModel& model) {
  CutPlan plan;
  for (const std::string& word : args.List("input_meta")) {
    VERNIER_ASSIGN_OR_RETURN(TensorInfo info, ParseInput(word));
    plan.inputs.push_back(std::move(info));
  }
  for (const std::string& word : args.List("output_meta")) {
    VERNIER_ASSIGN_OR_RETURN(TensorInfo info, ParseOutput(word));
    plan.outputs.push_back(std::move(info));
  }
  if (!args.Has("input_meta")) plan.inputs = model.RequiredInputs();
  if (!args.Has("output_meta")) plan.outputs = model.Outputs();
  return plan;
}

// The part as a model whose external data is still that of the original.
Result<OnnxModel> Reopen(const BytePieces& pieces, const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const int memory, ToMemfd(pieces));
  const UniqueFd owned(memory);
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open("/proc/self/fd/" + std::to_string(memory)));
  const std::span<const std::byte> bytes = file->bytes();
  return OnnxModel::FromBytes(bytes, std::move(file), path);
}

std::vector<std::string> NamesOf(std::span<const TensorInfo> infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(info.name);
  return names;
}

Status ExtractFromFile(const OnnxModel& model, const CutPlan& plan, const std::string& output,
                       const SaveOnnxOptions& options, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(EditableModel editable, EditableModel::Open(model.path(), options.source,
                                                                       options.ignore_weights));
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, CutModel(editable.now(), plan));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ToBytes(pieces));
  VERNIER_ASSIGN_OR_RETURN(
      OnnxModel part,
      OwnModel({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, model.path()));
  TellModel("Original Model:", model, log);
  TellModel("New Model:", part, log);
  editable.Become(std::move(part));
  log.Info("Saving ONNX model to: " + output);
  return editable.Save(output, options);
}

Status Extract(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  const std::string path(*args.Value("model_file"));
  const std::string output(*args.Value("output"));
  log.Info("Loading model: " + AbsolutePath(path));
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  WorkerPool pool(execution, WatchSignals(), log);
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, LoadAsAsked(args, pool, log));
  VERNIER_ASSIGN_OR_RETURN(CutPlan plan, BindCut(args, model));
  VERNIER_ASSIGN_OR_RETURN(const SaveOnnxOptions options, BindOnnxSave(args, log));
  VERNIER_TRY(NodesBetween(model, NamesOf(plan.inputs), NamesOf(plan.outputs)).status());
  VERNIER_TRY(CompleteCutAsAsked(args, invocation, model, plan, log));
  // As it is in the file: its weights go from there to the new file, and are never in memory.
  if (!args.Has("do_shape_inference") && !args.Has("fp_to_fp16")) {
    return ExtractFromFile(model, plan, output, options, log);
  }
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, CutModel(model, plan));
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel part, Reopen(pieces, path));
  TellModel("Original Model:", model, log);
  TellModel("New Model:", part, log);
  VERNIER_TRY(model.CheckIntact());
  log.Info("Saving ONNX model to: " + output);
  return SaveOnnx(part, {}, output, options);
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
