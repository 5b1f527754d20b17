// session.h and checks.h: sessions of programs that are not ours.
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "backend/known/python_program.h"
#include "model/onnx/companion_files.h"
#include "report/text/blame_text.h"
#include "report/text/profile_text.h"
#include "report/text/run_summary.h"
#include "run/runner/resolve_runner.h"
#include "run/runner/runner_kinds.h"
#include "run/runner/script_runner.h"
#include "run/workers/embedder.h"
#include "session/library/library_context.h"
#include "session/plan/plan_files.h"
#include "session/rows/accuracy_session.h"
#include "session/run/consistency_session.h"
#include "session/run/extremes_session.h"
#include "session/run/lint_session.h"
#include "session/run/run_session.h"
#include "util/log/no_log.h"
#include "util/process/own_program.h"
#include "vernier/checks.h"
#include "vernier/session.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// The first `vernier` in a folder of $PATH; empty where none is.
fs::path FromPath() {
  const char* folders = std::getenv("PATH");
  std::string_view rest = folders == nullptr ? "" : folders;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (const fs::path path = fs::path(folder) / "vernier"; !folder.empty() && IsFile(path)) {
      return path;
    }
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
  }
  return {};
}

// A mistyped name is the caller's fault, and not a backend that is missing here.
Status CheckBackendNames(const RunPlan& plan) {
  for (const RunnerPlan& runner : plan.runners) {
    if (IsPythonBackend(runner.backend)) continue;
    VERNIER_TRY(CheckBackendName(runner.backend, plan.execution.backend_dirs)
                    .Annotate("runner '" + runner.name + "'"));
  }
  return {};
}

// The plan with everything that follows from it.
Result<RunPlan> Prepare(RunPlan plan, const SessionOptions& options) {
  VERNIER_TRY(ResolveRunners(plan, options.logger));
  VERNIER_TRY(ValidatePlan(plan));
  if (plan.runners.empty() && plan.load_outputs.empty()) {
    return InvalidArgument("the plan has neither runners nor saved outputs to compare");
  }
  VERNIER_TRY(ChooseProgram(options.program));
  VERNIER_TRY(CheckBackendNames(plan));
  return plan;
}

// The runners are of the model that is checked, and what is saved spares its files.
Status CheckLintPlan(const RunPlan& run, const ModelPlan& model) {
  for (const RunnerPlan& runner : run.runners) {
    if (runner.model.path == model.path) continue;
    return InvalidArgument("runner '" + runner.name + "' has the model '" + runner.model.path +
                           "', but '" + model.path + "' is checked: give it the same");
  }
  std::vector<FileRead> read = {{model.path, "the model"}};
  for (std::string& path : CompanionFiles(model.path, model.external_data_dir)) {
    read.push_back({std::move(path), "weights of the model"});
  }
  return CheckPlanFiles(run, read);
}

}  // namespace

Status ChooseProgram(const std::string& named) {
  if (!named.empty()) {
    if (IsFile(named)) return UseProgram(named), Status();
    return Unavailable("SessionOptions::program: there is no file '" + named + "'");
  }
  const char* variable = std::getenv("VERNIER_PROGRAM");
  if (variable != nullptr && *variable != '\0') {
    if (IsFile(variable)) return UseProgram(variable), Status();
    return Unavailable("$VERNIER_PROGRAM: there is no file '" + std::string(variable) + "'");
  }
  for (const fs::path& path : {FromPath(), fs::path(VERNIER_INSTALLED_PROGRAM)}) {
    if (IsFile(path)) return UseProgram(path), Status();
  }
  return Unavailable(
      "the program 'vernier', in whose processes frameworks run, was not found: install it, or "
      "name it by SessionOptions::program or $VERNIER_PROGRAM");
}

RunnerPlan MakeRunner(std::string name, std::string backend, std::string path) {
  RunnerPlan runner;
  runner.name = std::move(name);
  runner.backend = std::move(backend);
  runner.model.path = std::move(path);
  return runner;
}

Status ResolveRunners(RunPlan& plan, Logger* logger) {
  NoLog silence;
  for (RunnerPlan& runner : plan.runners) {
    if (IsPythonScript(runner.backend) || IsProgramPath(runner.backend)) {
      const std::string script = runner.backend;
      VERNIER_TRY(BindModelRunner(script, runner).Annotate("runner '" + runner.name + "'"));
    }
    runner.backend = std::string(KindOf(runner.backend).backend);
    if (runner.model.type.empty()) PassMarks(runner.model.outputs, runner);
    VERNIER_TRY(ResolveRunner(runner, logger == nullptr ? silence : *logger)
                    .Annotate("runner '" + runner.name + "'"));
  }
  return {};
}

Result<RunRecord> Run(const RunPlan& given, const SessionOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, Prepare(given, options));
  LibraryDefaults defaults;
  SessionContext context = defaults.ContextOf(options);
  Embedder caller;
  caller.keeps_outputs = static_cast<bool>(options.events.outputs_made);
  context.caller = &caller;
  return CarryOutRun(plan, context).record;
}

Result<BlameRecord> Blame(const RunPlan& given, const SessionOptions& options) {
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, Prepare(given, options));
  LibraryDefaults defaults;
  BlamePlan search{plan.blame.value_or(BlameOptions()), plan, plan.save.WantsPage(), {}};
  return CarryOutBlame(search, defaults.ContextOf(options)).record;
}

Result<RunRecord> Profile(const RunPlan& given, const ProfileOptions& profile,
                          const SessionOptions& options) {
  if (given.runners.empty()) return InvalidArgument("the plan has no runner to measure");
  if (profile.shapes.empty()) {
    return InvalidArgument("ProfileOptions::shapes: expected at least one set, which may be empty");
  }
  VERNIER_ASSIGN_OR_RETURN(const RunPlan plan, Prepare(given, options));
  LibraryDefaults defaults;
  return CarryOutProfile(plan, profile, defaults.ContextOf(options)).record;
}

Result<Checked<ConsistencyRecord>> CheckConsistency(const RunPlan& given,
                                                    const ConsistencyOptions& check,
                                                    const SessionOptions& options) {
  if (given.runners.empty()) return InvalidArgument("the plan has no runner to check");
  VERNIER_TRY(CheckPropertyNames(check));
  if (check.repeats < 2 || check.rows < 2 || check.steps < 1) {
    return InvalidArgument(
        "ConsistencyOptions: repeats and rows are expected to be from 2 on, steps from 1 on");
  }
  VERNIER_ASSIGN_OR_RETURN(RunPlan plan, Prepare(given, options));
  LibraryDefaults defaults;
  const SessionContext context = defaults.ContextOf(options);
  VERNIER_ASSIGN_OR_RETURN(
      ConsistencyOutcome outcome,
      TryConsistency({std::move(plan), check}, context.interrupted, context.logger));
  return Checked<ConsistencyRecord>{std::move(outcome.record), ExitCode(outcome.faults, false)};
}

Result<Checked<ExtremesRecord>> CheckExtremes(const RunPlan& given, const ExtremesOptions& check,
                                              const SessionOptions& options) {
  if (given.runners.empty()) return InvalidArgument("the plan has no runner to check");
  ExtremesPlan plan{{}, {}, !check.sets.empty(), check.strict};
  VERNIER_ASSIGN_OR_RETURN(plan.sets, ChooseExtremeSets(check.sets));
  VERNIER_ASSIGN_OR_RETURN(plan.run, Prepare(given, options));
  LibraryDefaults defaults;
  const SessionContext context = defaults.ContextOf(options);
  VERNIER_ASSIGN_OR_RETURN(ExtremesOutcome outcome,
                           TryExtremes(plan, context.interrupted, context.logger));
  return Checked<ExtremesRecord>{std::move(outcome.record), ExitCode(outcome.faults, false)};
}

Result<Checked<LintRecord>> CheckLint(const RunPlan& given, const LintOptions& check,
                                      const SessionOptions& options) {
  LintPlan plan{given, check};
  ModelPlan& model = plan.options.model;
  if (model.path.empty() && !given.runners.empty()) model = given.runners.front().model;
  VERNIER_TRY(CheckLintOptions(plan.options));
  VERNIER_TRY(CheckLintPlan(given, model));
  if (given.runners.empty()) {
    VERNIER_TRY(ValidatePlan(given));
  } else {
    VERNIER_ASSIGN_OR_RETURN(plan.run, Prepare(given, options));
  }
  if (model.fp_to_fp16) VERNIER_TRY(ChooseProgram(options.program));
  LibraryDefaults defaults;
  const SessionContext context = defaults.ContextOf(options);
  VERNIER_ASSIGN_OR_RETURN(LintOutcome outcome,
                           LintAndReport(plan, context.interrupted, context.logger));
  return Checked<LintRecord>{std::move(outcome.record), ExitCode(outcome.faults, false)};
}

Result<Checked<AccuracyRecord>> CheckAccuracy(const RunPlan& plan, const std::string& path,
                                              const SessionOptions& options) {
  if (path.empty()) return InvalidArgument("no file of accuracy results is named");
  VERNIER_TRY(ValidatePlan(plan));
  const FileRead saved{path, "the accuracy results"};
  VERNIER_TRY(CheckPlanFiles(plan, {&saved, 1}));
  LibraryDefaults defaults;
  AccuracyOutcome outcome =
      JudgeAccuracy({plan, path, true, {}}, defaults.ContextOf(options).logger);
  // That verdicts could not be saved does not take them back.
  if (!outcome.ended.ok() && outcome.ended.code() != StatusCode::kIo) return outcome.ended;
  return Checked<AccuracyRecord>{std::move(outcome.record), ExitCode(outcome.faults, false)};
}

std::string FormatSummary(const RunRecord& record) {
  constexpr size_t kShownLayers = 10;
  const std::string why = record.error.empty() ? "" : record.error + "\n";
  if (record.profile) return why + FormatProfile(record, kShownLayers);
  return why + FormatRunSummary(record, {record.runners.size() > 1});
}

std::string FormatSummary(const BlameRecord& record) { return FormatBlame(record, false); }

}  // namespace vernier
