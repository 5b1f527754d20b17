// A part of a model, cut out between tensors.
#include <chrono>
#include <span>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/extract_shapes.h"
#include "cli/commands/interruption.h"
#include "inputs/shape_spec.h"
#include "model/onnx_cut.h"
#include "model/onnx_model.h"
#include "model/onnx_save.h"
#include "model/onnx_summary.h"
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

Result<SaveOnnxOptions> BindSave(const ParsedArgs& args) {
  SaveOnnxOptions options;
  options.source.directory = std::string(args.Value("external_data_dir").value_or(""));
  options.ignore_weights = args.Has("ignore_external_data");
  if (args.Has("strict_external_data")) options.source.links = LinkPolicy::kRefuse;
  if (args.Has("external_data_path")) {
    options.external_path = std::string(args.Value("external_data_path").value_or(""));
  }
  if (const auto word = args.Value("external_data_size_threshold")) {
    VERNIER_ASSIGN_OR_RETURN(const int64_t threshold, ParseByteCount(*word));
    if (threshold < 0) {
      return InvalidArgument("--external-data-size-threshold: expected a size >= 0, got " +
                             std::to_string(threshold));
    }
    options.size_threshold = static_cast<uint64_t>(threshold);
  }
  options.one_file = !args.Has("all_tensors_to_one_file");
  return options;
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

Status Extract(const ParsedArgs& args, const Invocation& invocation, ConsoleLog& log) {
  const std::string path(*args.Value("model_file"));
  const std::string output(*args.Value("output"));
  log.Info("Loading model: " + path);
  ExecutionPlan execution;
  VERNIER_TRY(BindWorkers(args, execution));
  WorkerPool pool(execution, WatchSignals(), log);
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel model, LoadForExtraction(args, pool, log));
  VERNIER_ASSIGN_OR_RETURN(CutPlan plan, BindCut(args, model));
  VERNIER_ASSIGN_OR_RETURN(const SaveOnnxOptions options, BindSave(args));
  VERNIER_TRY(NodesBetween(model, NamesOf(plan.inputs), NamesOf(plan.outputs)).status());
  VERNIER_TRY(CompleteCut(args, invocation, model, plan, log));
  VERNIER_ASSIGN_OR_RETURN(const BytePieces pieces, CutModel(model, plan));
  VERNIER_ASSIGN_OR_RETURN(const OnnxModel part, Reopen(pieces, path));
  log.Info("Original Model:\n" + SummariseOnnx(model));
  log.Info("New Model:\n" + SummariseOnnx(part));
  VERNIER_TRY(model.CheckIntact());
  log.Info("Saving ONNX model to: " + output);
  return SaveOnnx(part, {}, output, options);
}

}  // namespace

int SurgeonExtractCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("surgeon extract"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  log.Start("RUNNING | Command: " + invocation.command);
  const auto begin = std::chrono::steady_clock::now();
  const Status status = Extract(start.args, invocation, log);
  RunFaults faults;
  if (!status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, seconds.count(), faults, invocation);
}

}  // namespace vernier
