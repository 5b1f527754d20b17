// debug.h: investigations of programs that are not ours.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "debug/debug_session.h"
#include "debug/precision_debugging.h"
#include "debug/reducing.h"
#include "inference/model_shapes.h"
#include "model/onnx/companion_files.h"
#include "session/library/library_context.h"
#include "session/plan/plan_files.h"
#include "surgeon/constant_folding.h"
#include "surgeon/editable_model.h"
#include "util/files/scratch_folder.h"
#include "vernier/debug.h"

namespace vernier {
namespace {

// What is written spares the model, its weights and what else is named. `field` is for messages.
Status CheckWritten(const std::string& field, const std::string& written,
                    const std::vector<std::string>& spared) {
  for (const std::string& path : spared) {
    if (written.empty() || (written != path && !WouldReplaceData(written, path))) continue;
    return InvalidArgument(field + ": '" + written + "' would replace '" + path +
                           "': name another file");
  }
  return {};
}

std::vector<std::string> FilesOfModel(const std::string& model, const std::string& weights) {
  std::vector<std::string> files = CompanionFiles(model, weights);
  files.push_back(model);
  return files;
}

Status CheckReducedFiles(const std::string& model, const ReduceOptions& reduce) {
  std::vector<std::string> spared = FilesOfModel(model, reduce.external_data_dir);
  VERNIER_TRY(CheckWritten("ReduceOptions::output", reduce.output, spared));
  spared.push_back(reduce.output);
  return CheckWritten("ReduceOptions::min_good", reduce.min_good, spared);
}

// As a search needs it: constants are weights.
Result<EditableModel> OpenModel(const std::string& path, const SaveOnnxOptions& save) {
  VERNIER_ASSIGN_OR_RETURN(EditableModel model, EditableModel::Open(path, save.source, false));
  VERNIER_ASSIGN_OR_RETURN(OnnxModel lowered, ConstantsAsInitializers(model.now()));
  model.Become(std::move(lowered));
  return model;
}

// The types of tensors are known afterwards.
Status InferTypes(EditableModel& model, const SessionOptions& options,
                  const SessionContext& context) {
  VERNIER_ASSIGN_OR_RETURN(const bool known, TakeShapesThatFollow(model));
  if (known) return {};
  VERNIER_TRY(ChooseProgram(options.program));
  return InferShapes(model, {}, ShapeTool::kSymbolic, context.interrupted, context.logger);
}

// What measures errors of nodes; nothing where the program that would run it is not found.
Result<std::optional<RunPlan>> InferenceOf(const std::string& path,
                                           const PrecisionOptions& precision,
                                           const SessionOptions& options, Logger& log) {
  if (const Status found = ChooseProgram(options.program); !found.ok()) {
    log.Warning(
        "Errors of single nodes cannot be measured; operators alone decide where to begin: " +
        found.message());
    return std::optional<RunPlan>();
  }
  RunPlan plan;
  plan.inputs = precision.inputs;
  plan.runners = {MakeRunner("onnxrt", "onnxruntime", path)};
  plan.runners.front().model.external_data_dir = precision.external_data_dir;
  VERNIER_TRY(ResolveRunners(plan, &log));
  VERNIER_TRY(ValidatePlan(plan));
  return std::optional(std::move(plan));
}

// A session of debugging with the caller's check, and the folder of its models.
struct CallerSession {
  ScratchFolder folder;
  DebugSession session;
};

Result<CallerSession> OpenSession(std::string_view suffix, const ModelCheck& check,
                                  std::vector<std::string> outputs, const SessionContext& context) {
  VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
  DebugSessionPlan plan;
  plan.check.judge = check;
  plan.suffix = suffix;
  plan.artifact = folder.path() + "/model.onnx";
  std::erase(outputs, "");
  plan.outputs = std::move(outputs);
  VERNIER_ASSIGN_OR_RETURN(
      DebugSession session,
      DebugSession::Open(std::move(plan), context.interrupted, context.logger));
  return CallerSession{std::move(folder), std::move(session)};
}

Status CheckIsGiven(const ModelCheck& check) {
  if (check) return {};
  return InvalidArgument("no check is given that says which models are good");
}

}  // namespace

Result<ReduceRecord> ReduceModel(const std::string& path, const ModelCheck& check,
                                 const ReduceOptions& reduce, const SessionOptions& options) {
  VERNIER_TRY(CheckIsGiven(check));
  VERNIER_TRY(CheckReducedFiles(path, reduce));
  LibraryDefaults defaults;
  const SessionContext context = defaults.ContextOf(options);
  ReduceDebugPlan plan;
  plan.reduce_inputs = reduce.inputs;
  plan.reduce_outputs = reduce.outputs;
  plan.bisect = reduce.bisect;
  plan.output = reduce.output;
  plan.min_good = reduce.min_good;
  plan.save.log = &context.logger;
  plan.save.source.directory = reduce.external_data_dir;
  VERNIER_ASSIGN_OR_RETURN(EditableModel model, OpenModel(path, plan.save));
  VERNIER_TRY(InferTypes(model, options, context));
  VERNIER_ASSIGN_OR_RETURN(CallerSession caller,
                           OpenSession("reduce", check, {reduce.output, reduce.min_good}, context));
  return DebugReduce(plan, model, caller.session, context.logger);
}

Result<Float32Record> FindFloat32Nodes(const std::string& path, const ModelCheck& check,
                                       const PrecisionOptions& precision,
                                       const SessionOptions& options) {
  VERNIER_TRY(CheckIsGiven(check));
  if (precision.most_checks < 1) {
    return InvalidArgument("PrecisionOptions::most_checks: expected a number >= 1, got " +
                           std::to_string(precision.most_checks));
  }
  VERNIER_TRY(CheckWritten("PrecisionOptions::output", precision.output,
                           FilesOfModel(path, precision.external_data_dir)));
  LibraryDefaults defaults;
  const SessionContext context = defaults.ContextOf(options);
  PrecisionDebugPlan plan;
  plan.model = path;
  plan.linear = !precision.groups;
  plan.reverse = precision.reverse;
  plan.most_checks = static_cast<size_t>(precision.most_checks);
  plan.output = precision.output;
  plan.save.log = &context.logger;
  plan.save.source.directory = precision.external_data_dir;
  plan.inference = [&] { return InferenceOf(path, precision, options, context.logger); };
  VERNIER_ASSIGN_OR_RETURN(EditableModel model, OpenModel(path, plan.save));
  VERNIER_TRY(TakeShapesThatFollow(model).status());
  VERNIER_ASSIGN_OR_RETURN(CallerSession caller,
                           OpenSession("precision", check, {precision.output}, context));
  return DebugPrecision(plan, model, caller.session, context.logger);
}

}  // namespace vernier
