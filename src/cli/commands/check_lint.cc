// The faults of an ONNX model by itself: by rules, and by what runners say.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "check/lint_run.h"
#include "cli/bind_model.h"
#include "cli/bind_run.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/extract_shapes.h"
#include "cli/commands/interruption.h"
#include "cli/commands/lint_session.h"
#include "cli/commands/surgery.h"
#include "cli/file_conflicts.h"
#include "cli/option_sets.h"
#include "inputs/shape_grid.h"
#include "lint/lint.h"
#include "lint/rules.h"
#include "model/model_type.h"
#include "run/feed_plan.h"
#include "util/atomic_file.h"
#include "util/counted.h"

namespace vernier {
namespace {

/// Polygraphy asks ONNX Runtime; without a runner's name so do we.
std::vector<std::string> WithDefaultRunner(std::span<const std::string> words) {
  std::vector<std::string> all = {"--onnxrt"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

void Tell(const LintFinding& finding, Logger& log) {
  std::string scope;
  if (finding.nodes.size() == 1) {
    scope = "Name: " + finding.nodes.front() + ", Op: " + finding.op + " | ";
  }
  const std::string line =
      "LINT | " + scope + finding.message + " [" + std::string(finding.rule) + "]";
  switch (finding.level) {
    case LintLevel::kException:
      return log.Error(line);
    case LintLevel::kWarning:
      return log.Warning(line);
    case LintLevel::kInfo:
      return log.Info(line);
  }
}

void Summarise(const LintReport& report, size_t nodes, Logger& log) {
  std::string line = Counted(report.Count(LintLevel::kException), "exception") + ", " +
                     Counted(report.Count(LintLevel::kWarning), "warning") + ", " +
                     Counted(report.Count(LintLevel::kInfo), "remark") + " | of " +
                     Counted(nodes, "node") + " " + std::to_string(report.passing.size()) +
                     " passed and " + std::to_string(report.failing.size()) + " failed";
  std::string who;
  for (const std::string& runner : report.runners) who += (who.empty() ? "" : ", ") + runner;
  if (who.empty()) {
    line += " by rules; none was run";
  } else {
    line += "; " + std::to_string(nodes - report.not_run.size()) + " ran in " + who;
    if (!report.not_run.empty()) line += ", " + std::to_string(report.not_run.size()) + " not run";
  }
  log.Info(line);
}

// Polygraphy adds up what its parts say; here a runner that is not there is told of.
Status AskRunners(const LintPlan& plan, const OnnxModel& model, const Probe::Shared& shared,
                  Findings& findings, LintReport& told, std::vector<LintRun>& runs) {
  Logger& log = shared.logger;
  LintedModel linted{model, !findings.AnyException(), {}};
  for (uint32_t i = 0; i < model.graph().nodes.size(); ++i) {
    linted.failed.push_back(findings.Failed(i));
  }
  for (size_t i = 0; i < plan.run.runners.size(); ++i) {
    Result<LintRunResult> result = LintWithRunner(plan.run, i, linted, shared, findings);
    if (!result.ok()) {
      const StatusCode code = result.status().code();
      const bool may_lack = plan.default_runner && !plan.run.inputs.script.given();
      if (code != StatusCode::kUnavailable || !may_lack) return result.status();
      log.Warning("ONNX Runtime cannot be asked here, so nodes were not run: " +
                  result.status().message());
      continue;
    }
    if (!result->refused) told.runners.push_back(result->runner);
    if (!result->limits.empty()) log.Warning(result->limits);
    runs.resize(result->runs.size(), LintRun::kNotRun);
    for (size_t node = 0; node < runs.size(); ++node) {
      if (result->runs[node] == LintRun::kPassed) runs[node] = LintRun::kPassed;
    }
  }
  return {};
}

// The peer only warns of sizes that cannot be used.
Result<LintOptions> WithSizes(const LintPlan& plan, const OnnxModel& model, Logger& log) {
  LintOptions options = plan.options;
  if (!plan.run.lenient) {
    VERNIER_TRY(RefuseSeveralShapes("--input-shapes", plan.run.inputs.shape_words, "check lint"));
  }
  Result<std::vector<InputDims>> sizes = GivenSizes("--input-shapes", plan.run.inputs.shape_words,
                                                    model.RequiredInputs(), KnownSizesOf(plan.run));
  if (!sizes.ok() && !plan.run.lenient) return sizes.status();
  if (sizes.ok()) {
    options.inputs = *std::move(sizes);
  } else {
    log.Warning(sizes.status().message());
  }
  return options;
}

Result<LintOutcome> Lint(const LintPlan& plan, const std::atomic<int>& interrupted, Logger& log) {
  log.Info("Loading model: " + AbsolutePath(plan.path));
  Result<OnnxModel> model = OnnxModel::Open(plan.path);
  if (!model.ok()) {
    LintOutcome linted{UnreadableReport(model.status())};
    Tell(linted.report.findings.front(), log);
    return linted;
  }
  if (plan.model.fp_to_fp16) {
    WorkerPool pool(plan.run.execution, interrupted, log);
    VERNIER_ASSIGN_OR_RETURN(model, LoadChanged(plan.model, pool, log));
  }
  VERNIER_ASSIGN_OR_RETURN(const LintOptions options, WithSizes(plan, *model, log));
  Findings findings(*model, options.skip);
  LintModel(*model, options, findings);
  LintReport told;
  std::vector<LintRun> runs;
  const Probe::Shared shared{plan.run.execution, interrupted, log};
  Status asked = AskRunners(plan, *model, shared, findings, told, runs);
  for (const LintFinding& finding : findings.list()) Tell(finding, log);
  if (asked.code() == StatusCode::kCancelled) return asked;
  VERNIER_TRY(model->CheckIntact());
  LintOutcome linted{MakeLintReport(*model, std::move(findings), runs), std::move(asked)};
  linted.report.runners = std::move(told.runners);
  Summarise(linted.report, model->graph().nodes.size(), log);
  return linted;
}

void PrintRules() {
  for (const LintRule* rule : lint_rule::All()) {
    std::printf("%-20s %-10s %s\n", std::string(rule->name).c_str(),
                std::string(LintLevelName(rule->level)).c_str(),
                std::string(rule->meaning).c_str());
  }
}

int CarryOutLint(const LintPlan& plan, const Invocation& invocation, ConsoleLog& log) {
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const Result<LintOutcome> outcome = LintAndTell(plan, WatchSignals(), log);
  if (outcome.status().code() == StatusCode::kCancelled) return 128 + ReceivedSignal();
  RunFaults faults;
  if (outcome.ok()) {
    faults = outcome->faults;
  } else {
    log.Critical(outcome.status().message());
    faults.Add(outcome.status());
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, elapsed.count(), faults, invocation);
}

}  // namespace

Result<LintPlan> BindLint(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  LintPlan plan;
  plan.path = std::string(args.Value("model_file").value_or(""));
  if (plan.path.empty()) return InvalidArgument("no model is named");
  VERNIER_TRY(CheckFileConflicts(args, "output"));
  plan.output = std::string(args.Value("output").value_or(""));
  plan.strict = args.Has("strict");
  const auto skip = args.List("skip");
  plan.options.skip.assign(skip.begin(), skip.end());
  VERNIER_TRY(CheckRuleNames(plan.options));
  plan.options.external_data_dir = std::string(args.Value("external_data_dir").value_or(""));
  if (args.Has("ignore_external_data")) plan.options.skip.emplace_back("external-data");
  ModelTypeHints hints;
  if (const auto type = args.Value("model_type")) hints.given = ModelTypeFromName(*type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, InferModelType(plan.path, hints));
  if (type != ModelType::kOnnx) {
    return Unimplemented("check lint checks ONNX models, and '" + plan.path + "' is of type " +
                         std::string(ModelTypeName(type)));
  }
  if (!std::filesystem::exists(plan.path)) {
    return Malformed("cannot open '" + plan.path + "': No such file or directory");
  }
  VERNIER_ASSIGN_OR_RETURN(plan.model, BindModel(args));
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, invocation, log));
  if (args.Has("iterations")) log.Warning("--iterations has no effect: the model runs on one feed");
  return plan;
}

Result<LintOutcome> LintAndTell(const LintPlan& plan, const std::atomic<int>& interrupted,
                                Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(LintOutcome outcome, Lint(plan, interrupted, log));
  const auto add = [&](const Status& status) {
    if (status.ok()) return;
    log.Critical(status.message());
    outcome.faults.Add(status);
  };
  add(outcome.asked);
  const LintReport& report = outcome.report;
  outcome.faults.mismatch =
      !report.valid() || (plan.strict && report.Count(LintLevel::kWarning) > 0);
  if (!plan.output.empty()) {
    log.Info("Saving linting report to " + plan.output);
    add(WriteFileAtomically(plan.output, ToJson(report)));
  }
  return outcome;
}

namespace {

int CheckLintCommand(std::span<const std::string> words, const Invocation& invocation) {
  CommandStart start = StartCommand(kCheckLintCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  if (start.args.Has("list_rules")) {
    PrintRules();
    return 0;
  }
  const bool named = !start.args.Runners().empty();
  if (!named && !start.args.Has("no_run")) {
    start = StartCommand(kCheckLintCommand, WithDefaultRunner(words), invocation);
    if (start.exit_code) return *start.exit_code;
  }
  Result<LintPlan> plan = BindLint(start.args, invocation, *start.log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, *start.log);
  plan->default_runner = !named;
  return CarryOutLint(*plan, invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kCheckLintCommand = {
    .name = "check lint",
    .section = CommandSection::kModels,
    .operands = "model_file [runners ...] [options ...]",
    .summary = "check an ONNX model for faults, each reported under a named rule",
    .about =
        "Check names, order, operators, types, shapes and weights of an ONNX model without a"
        " framework, then let a runner run it: ONNX Runtime where it is installed, or the runners"
        " given. If the model does not run as a whole, its nodes are run one by one. Any exception"
        " gives exit code 1.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), LintCheckGroup(), LoneRunnerOptions(),
                              ModelAndShapeOptions(), LoadedModelOptions(), OnnxRuntimeGroup(),
                              OpenVinoGroup(), TensorRtConfigGroup(), TensorRtShortFormGroup(),
                              TensorRtLoadGroup(), TensorRtRunGroup(), DataLoaderGroup(),
                              AnyWorkerOptions()});
        },
    .run = CheckLintCommand,
};

}  // namespace vernier
