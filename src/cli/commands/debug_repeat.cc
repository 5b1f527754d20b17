// The same again and again: a check, or the build of an engine and its check.
#include "backend/worker.h"
#include "cli/bind_model.h"
#include "cli/bind_run.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/commands/surgery.h"
#include "cli/debug/debug_session.h"
#include "cli/debug/engine_precisions.h"
#include "cli/option_sets.h"
#include "model/model_type.h"
#include "run/engine_build.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// When to stop: after so many iterations, or after the first good or bad one.
struct Until {
  std::optional<int64_t> count;
  bool good = false;

  bool Reached(int64_t iterations, bool passed) const {
    return count ? iterations >= *count : passed == good;
  }
};

Result<Until> BindUntil(const ParsedArgs& args) {
  const std::string word(args.Value("until").value_or(""));
  if (word == "good" || word == "bad") return Until{std::nullopt, word == "good"};
  const std::optional<int64_t> count = ParseInt(word);
  if (!count || *count < 1) {
    return InvalidArgument("--until value must be an integer, 'good', or 'bad', but was: " + word);
  }
  return Until{count, false};
}

// Iterations until one is as it is waited for.
Status Iterate(const ParsedArgs& args, DebugSession& session, const DebugTrial& trial,
               Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(const Until until, BindUntil(args));
  if (!args.Has("artifacts")) {
    log.Warning(
        "`--artifacts` was not specified; No artifacts will be stored during this run! Is this "
        "what you intended?");
  }
  for (bool done = false; !done;) {
    VERNIER_ASSIGN_OR_RETURN(const bool passed, session.Passes(trial));
    done = until.Reached(session.iterations(), passed);
  }
  session.Finish();
  return {};
}

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
  VERNIER_TRY(BindUntil(args).status());
  const DebugSessionPlan plan{"", "polygraphy_debug.engine", false};
  VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                           DebugSession::Bind(args, std::move(check), plan, log));
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan model, BuildableModel(args));
  KeptWorkers workers;
  CallerObjects kept;
  kept.kept_workers = &workers;
  const auto make = [&](const std::string& path) -> Status {
    VERNIER_ASSIGN_OR_RETURN(RunPlan build, BindEngineBuild(args, model, path, log));
    KeepBuilder(build.runners.front());
    return BuildEngineFile(build, WatchSignals(), log, &kept).status();
  };
  return Iterate(args, session, {.make = make, .may_fail = true}, log);
}

int DebugBuildCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) {
    WatchSignals();
    return Build(args, std::move(check), log);
  };
  return RunModelTool(kDebugBuildCommand, work, true, own, invocation);
}

int DebugRepeatCommand(std::span<const std::string> words, const Invocation& invocation) {
  std::vector<std::string> own(words.begin(), words.end());
  CheckWords check = TakeCheckWords(own);
  const auto work = [&](const ParsedArgs& args, ConsoleLog& log) -> Status {
    WatchSignals();
    VERNIER_TRY(BindUntil(args).status());
    VERNIER_ASSIGN_OR_RETURN(DebugSession session,
                             DebugSession::Bind(args, std::move(check), {}, log));
    return Iterate(args, session, {}, log);
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
