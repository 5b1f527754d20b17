#include "cli/commands/model_tool.h"

#include <algorithm>
#include <chrono>

#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/commands/print_document.h"
#include "model/onnx/model_type.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_onnx_save.h"
#include "options/table/command_words.h"
#include "options/table/document_format.h"
#include "options/table/groups.h"
#include "report/models/model_text.h"
#include "run/workers/model_source.h"
#include "util/files/paths.h"
#include "util/log/forwarding_log.h"

namespace vernier {
namespace {

// The model in float16, in a file of its own.
Result<std::string> InFloat16(const ModelPlan& whole, bool as_polygraphy,
                              const ScratchFolder& folder, Logger& log) {
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

}  // namespace

Result<ToolModel> ToolModel::Open(const ParsedArgs& args, bool as_polygraphy, Logger& log) {
  ToolModel opened;
  NewFile output;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {output}));
  opened.output_ = output.path;
  VERNIER_ASSIGN_OR_RETURN(opened.plan_, BindModel(args));
  std::string path = opened.plan_.path;
  if (path.empty()) return InvalidArgument("no model is named");
  ModelTypeHints hints;
  hints.given = ModelTypeFromName(opened.plan_.type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, InferModelType(path, hints));
  if (type != ModelType::kOnnx) {
    return Unimplemented("the surgeon works on ONNX models, and '" + path + "' is of type " +
                         std::string(ModelTypeName(type)));
  }
  log.Info("Loading model: " + AbsolutePath(path));
  VERNIER_ASSIGN_OR_RETURN(opened.save_, BindOnnxSave(args, log));
  ExternalDataOptions source = opened.save_.source;
  if (opened.plan_.fp_to_fp16) {
    VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
    opened.converted_.emplace(std::move(folder));
    VERNIER_ASSIGN_OR_RETURN(path, InFloat16(opened.plan_, as_polygraphy, *opened.converted_, log));
    source = {};
  }
  VERNIER_ASSIGN_OR_RETURN(EditableModel model,
                           EditableModel::Open(path, source, opened.save_.ignore_weights));
  opened.model_.emplace(std::move(model));
  return opened;
}

void ToolModel::LogSummary(std::string_view heading, Logger& log) const {
  LogModel(heading, model_->now(), log);
}

Status ToolModel::Save(Logger& log, std::vector<ReplacedValues> values) const {
  log.Info("Saving ONNX model to: " + output_);
  VERNIER_TRY(model_->Save(output_, save_, std::move(values)));
  LogSummary("New Model:", log);
  return {};
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
