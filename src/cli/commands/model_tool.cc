#include "cli/commands/model_tool.h"

#include <algorithm>
#include <chrono>

#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/commands/print_document.h"
#include "inputs/shape_spec.h"
#include "model/onnx/model_type.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_onnx_save.h"
#include "options/table/groups.h"
#include "report/models/model_text.h"
#include "run/workers/model_source.h"
#include "util/forwarding_log.h"
#include "util/paths.h"

namespace vernier {
namespace {

// The model in float16, in a file of its own.
Result<std::string> InFloat16(const ParsedArgs& args, bool as_polygraphy,
                              const ScratchFolder& folder, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(ModelPlan whole, BindModel(args));
  ModelPlan plan;
  plan.path = whole.path;
  plan.type = std::string(ModelTypeName(ModelType::kOnnx));
  plan.external_data_dir = whole.external_data_dir;
  plan.strict_external_data = whole.strict_external_data;
  plan.fp_to_fp16 = true;
  plan.fp16_clamps = as_polygraphy;
  plan.save_path = folder.path() + "/model.onnx";
  log.Info("Converting float tensors to float16");
  ForwardingLog silence = QuietLog(log);
  VERNIER_TRY(ModelSource::Save(plan, silence));
  return plan.save_path;
}

Status RefuseSecondShapes(std::string_view flag, const std::vector<ShapeSpec>& specs) {
  for (const ShapeSpec& spec : specs) {
    const auto count = std::ranges::count(specs, spec.name, &ShapeSpec::name);
    if (count == 1) continue;
    return InvalidArgument(std::string(flag) + ": expected one shape for '" + spec.name +
                           "', got " + std::to_string(count) +
                           ": the model takes one set of shapes");
  }
  return {};
}

}  // namespace

Result<ToolModel> ToolModel::Open(const ParsedArgs& args, bool as_polygraphy, Logger& log) {
  ToolModel opened;
  std::string path(args.Value("model_file").value_or(""));
  if (path.empty()) return InvalidArgument("no model is named");
  ModelTypeHints hints;
  if (const auto type = args.Value("model_type")) hints.given = ModelTypeFromName(*type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, InferModelType(path, hints));
  if (type != ModelType::kOnnx) {
    return Unimplemented("the surgeon works on ONNX models, and '" + path + "' is of type " +
                         std::string(ModelTypeName(type)));
  }
  log.Info("Loading model: " + AbsolutePath(path));
  VERNIER_ASSIGN_OR_RETURN(SaveOnnxOptions options, BindOnnxSave(args, log));
  if (args.Has("fp_to_fp16")) {
    VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
    opened.converted_.emplace(std::move(folder));
    VERNIER_ASSIGN_OR_RETURN(path, InFloat16(args, as_polygraphy, *opened.converted_, log));
    options.source = {};
  }
  VERNIER_ASSIGN_OR_RETURN(EditableModel model,
                           EditableModel::Open(path, options.source, options.ignore_weights));
  opened.model_.emplace(std::move(model));
  return opened;
}

void ToolModel::LogSummary(std::string_view heading, Logger& log) const {
  LogModel(heading, model_->now(), log);
}

Status ToolModel::Save(const ParsedArgs& args, Logger& log,
                       std::vector<ReplacedValues> values) const {
  const std::string output(*args.Value("output"));
  VERNIER_ASSIGN_OR_RETURN(SaveOnnxOptions options, BindOnnxSave(args, log));
  log.Info("Saving ONNX model to: " + output);
  VERNIER_TRY(model_->Save(output, std::move(options), std::move(values)));
  LogSummary("New Model:", log);
  return {};
}

Result<std::vector<TensorInfo>> GivenInputShapes(const ParsedArgs& args, bool as_polygraphy) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> specs,
                           ParseShapeSpecs(args.List("input_shapes"), Strictness::kStrict));
  if (!as_polygraphy) VERNIER_TRY(RefuseSecondShapes(args.Flag("input_shapes"), specs));
  std::vector<TensorInfo> inputs;
  for (const ShapeSpec& spec : KeepLastShapes(specs)) {
    if (!spec.shape) continue;
    inputs.push_back({spec.name, spec.dtype.value_or(DType::kUndefined), spec.shape});
  }
  return inputs;
}

std::vector<std::string> FeedFlags(const ParsedArgs& args) {
  std::vector<std::string> flags;
  for (const OptionRow& row : DataLoaderGroup().rows) {
    if (!args.Has(row.dest)) continue;
    std::string flag(args.Flag(row.dest));
    if (std::ranges::find(flags, flag) == flags.end()) flags.push_back(std::move(flag));
  }
  return flags;
}

int RunModelTool(const CommandSpec& command, const ToolWork& work, bool banners,
                 std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(command, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  if (!banners || WantsDocument(start.args))
    return EndCommand(work(start.args, log), invocation, log);
  log.Start("RUNNING | Command: " + invocation.command);
  const auto begin = std::chrono::steady_clock::now();
  const Status status = work(start.args, log);
  RunFaults faults;
  if (!status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
    if (status.code() == StatusCode::kCancelled) faults.signal = ReceivedSignal();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, seconds.count(), faults, invocation);
}

}  // namespace vernier
