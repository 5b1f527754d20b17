// The same again and again: a check, or the build of an engine and its check.
#include "cli/commands/interruption.h"
#include "cli/commands/model_tool.h"
#include "cli/table/commands.h"
#include "debug/repetition.h"
#include "model/onnx/model_type.h"
#include "options/bind/bind_debug.h"
#include "options/bind/bind_model.h"
#include "options/bind/bind_run.h"
#include "options/table/option_sets.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

Result<ModelPlan> BuildableModel(const ParsedArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(ModelPlan model, BindModel(args));
  ModelTypeHints hints;
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, InferModelType(model.path, hints));
  if (type == ModelType::kEngine) {
    return InvalidArgument("debug build: '" + model.path +
                           "' is an engine, which is not built again; name the model");
  }
  model.type = std::string(ModelTypeName(type));
  return model;
}

Status Build(const ParsedArgs& args, CheckWords check, ConsoleLog& log) {
  RepeatUntil until;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {until}));
  const DebugTool tool{"", "polygraphy_debug.engine", false};
  VERNIER_ASSIGN_OR_RETURN(DebugSessionPlan session_plan,
                           BindDebugSession(args, std::move(check), tool));
  VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                           DebugSession::Open(std::move(session_plan), WatchSignals(), log));
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan model, BuildableModel(args));
  VERNIER_ASSIGN_OR_RETURN(RunPlan build, BindEngineBuild(args, model, session.artifact(), log));
  return RepeatBuild(std::move(build), until, session, log);
}

int DebugBuildCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) {
    return Build(args, std::move(check), log);
  };
  return RunModelTool(kDebugBuildCommand, work, true, own, invocation);
}

int DebugRepeatCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) -> Status {
    RepeatUntil until;
    VERNIER_TRY(BindOptions(args, {.log = &log}, {until}));
    VERNIER_ASSIGN_OR_RETURN(DebugSessionPlan session_plan,
                             BindDebugSession(args, std::move(check), {}));
    VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                             DebugSession::Open(std::move(session_plan), WatchSignals(), log));
    return Repeat({}, until, session, log);
  };
  return RunModelTool(kDebugRepeatCommand, work, true, own, invocation);
}

}  // namespace

constexpr CommandSpec kDebugBuildCommand = {
    .name = "debug build",
    .section = CommandSection::kTensorRt,
    .operands = "model_file --until WHEN [options ...] --check COMMAND ...",
    .summary = "build a TensorRT engine repeatedly and check each build",
    .about =
        "For engines that fail only sometimes: build polygraphy_debug.engine, check it, and sort"
        " files such as its tactic replay (--save-tactics FILE --artifacts FILE) into folders of"
        " good and bad ones, which vernier inspect diff-tactics compares.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), LoggingGroup(), ModelFileOptions(), DebugRepeatGroup(),
               Only(DebugCheckGroup(),
                    {"check", "fail_codes", "ignore_fail_codes", "fail_regex", "show_output",
                     "hide_fail_output", "artifacts", "artifacts_dir", "iteration_info_path"}),
               DebugArtifactGroup(), OnnxShapeInferenceGroup(), OnnxLoadGroup(), DataLoaderGroup(),
               EngineOptions()});
        },
    .run = DebugBuildCommand,
};

constexpr CommandSpec kDebugRepeatCommand = {
    .name = "debug repeat",
    .section = CommandSection::kCause,
    .operands = "--until WHEN [options ...] --check COMMAND ...",
    .summary = "run a check repeatedly and sort the files it makes into good and bad",
    .about =
        "For intermittent faults: run a command until it has passed, failed, or run often enough,"
        " and sort the files that it made into folders.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), LoggingGroup(), DebugRepeatGroup(), DebugCheckGroup()});
        },
    .run = DebugRepeatCommand,
};

}  // namespace vernier
