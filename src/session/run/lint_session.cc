#include "session/run/lint_session.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "check/lint/lint_run.h"
#include "inputs/shape_grid.h"
#include "lint/lint.h"
#include "model/onnx/model_type.h"
#include "run/feeds/feed_plan.h"
#include "run/runner/changed_model.h"
#include "util/files/atomic_file.h"
#include "util/files/paths.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

void LogFinding(const LintFinding& finding, Logger& log) {
  std::string scope;
  if (finding.nodes.size() == 1) {
    scope = "Name: " + finding.nodes.front() + ", Op: " + finding.op + " | ";
  }
  const std::string line = "LINT | " + scope + finding.message + " [" + finding.rule + "]";
  switch (finding.level) {
    case LintLevel::kException:
      return log.Error(line);
    case LintLevel::kWarning:
      return log.Warning(line);
    case LintLevel::kInfo:
      return log.Info(line);
  }
}

void Summarise(const LintRecord& record, size_t nodes, Logger& log) {
  std::string line = Counted(record.Count(LintLevel::kException), "exception") + ", " +
                     Counted(record.Count(LintLevel::kWarning), "warning") + ", " +
                     Counted(record.Count(LintLevel::kInfo), "remark") + " | of " +
                     Counted(nodes, "node") + " " + std::to_string(record.passing.size()) +
                     " passed and " + std::to_string(record.failing.size()) + " failed";
  if (record.runners.empty()) {
    line += " by rules; none was run";
  } else {
    line +=
        "; " + std::to_string(nodes - record.not_run.size()) + " ran in " + Joined(record.runners);
    if (!record.not_run.empty()) line += ", " + std::to_string(record.not_run.size()) + " not run";
  }
  log.Info(line);
}

void AddFault(const Status& status, RunFaults& faults, Logger& log) {
  if (status.ok()) return;
  log.Critical(status.message());
  faults.Add(status);
}

// Polygraphy adds up what its parts say; here a runner that is not there is reported.
Status AskRunners(const LintPlan& plan, const OnnxModel& model, const Probe::Shared& shared,
                  Findings& findings, LintRecord& asked_record, std::vector<LintRun>& runs) {
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
      log.Warning("ONNX Runtime cannot be used here, so nodes were not run: " +
                  result.status().message());
      continue;
    }
    if (!result->refused) asked_record.runners.push_back(result->runner);
    if (!result->limits.empty()) log.Warning(result->limits);
    runs.resize(result->runs.size(), LintRun::kNotRun);
    for (size_t node = 0; node < runs.size(); ++node) {
      if (result->runs[node] == LintRun::kPassed) runs[node] = LintRun::kPassed;
    }
  }
  return {};
}

// Polygraphy only warns of sizes that cannot be used.
Result<LintContext> WithSizes(const LintPlan& plan, const OnnxModel& model, Logger& log) {
  LintContext context{{}, plan.options.model.external_data_dir};
  if (!plan.run.lenient) {
    VERNIER_TRY(RefuseSeveralShapes("--input-shapes", plan.run.inputs.shape_words, "check lint"));
  }
  Result<std::vector<InputDims>> sizes = GivenSizes("--input-shapes", plan.run.inputs.shape_words,
                                                    model.RequiredInputs(), KnownSizesOf(plan.run));
  if (!sizes.ok() && !plan.run.lenient) return sizes.status();
  if (sizes.ok()) {
    context.inputs = *std::move(sizes);
  } else {
    log.Warning(sizes.status().message());
  }
  return context;
}

Result<LintOutcome> Lint(const LintPlan& plan, const std::atomic<int>& interrupted, Logger& log) {
  const ModelPlan& asked_model = plan.options.model;
  log.Info("Loading model: " + AbsolutePath(asked_model.path));
  Result<OnnxModel> model = OnnxModel::Open(asked_model.path);
  if (!model.ok()) {
    LintOutcome linted{UnreadableRecord(model.status())};
    LogFinding(linted.record.findings.front(), log);
    return linted;
  }
  if (asked_model.fp_to_fp16) {
    WorkerPool pool(plan.run.execution, interrupted, log);
    VERNIER_ASSIGN_OR_RETURN(model, LoadChanged(asked_model, pool, log));
  }
  VERNIER_ASSIGN_OR_RETURN(const LintContext context, WithSizes(plan, *model, log));
  std::vector<std::string> skip = plan.options.skip;
  if (asked_model.ignore_external_data) skip.emplace_back("external-data");
  Findings findings(*model, skip);
  LintModel(*model, context, findings);
  LintRecord asked_record;
  std::vector<LintRun> runs;
  const Probe::Shared shared{plan.run.execution, interrupted, log};
  Status asked = AskRunners(plan, *model, shared, findings, asked_record, runs);
  for (const LintFinding& finding : findings.list()) LogFinding(finding, log);
  if (asked.code() == StatusCode::kCancelled) return asked;
  VERNIER_TRY(model->CheckIntact());
  LintOutcome linted{MakeLintRecord(*model, std::move(findings), runs)};
  linted.record.runners = std::move(asked_record.runners);
  Summarise(linted.record, model->graph().nodes.size(), log);
  linted.record.failure = asked.message();
  AddFault(asked, linted.faults, log);
  return linted;
}

}  // namespace

Status CheckLintOptions(const LintOptions& options) {
  const ModelPlan& model = options.model;
  if (model.path.empty()) return InvalidArgument("no model is named");
  VERNIER_TRY(CheckRuleNames(options.skip));
  ModelTypeHints hints;
  if (!model.type.empty()) hints.given = ModelTypeFromName(model.type);
  VERNIER_ASSIGN_OR_RETURN(const ModelType type, InferModelType(model.path, hints));
  if (type != ModelType::kOnnx) {
    return Unimplemented("check lint checks ONNX models, and '" + model.path + "' is of type " +
                         std::string(ModelTypeName(type)));
  }
  if (!std::filesystem::exists(model.path)) {
    return Malformed("cannot open '" + model.path + "': No such file or directory");
  }
  return {};
}

Result<LintOutcome> LintAndReport(const LintPlan& plan, const std::atomic<int>& interrupted,
                                  Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(LintOutcome outcome, Lint(plan, interrupted, log));
  const LintRecord& record = outcome.record;
  outcome.faults.mismatch =
      !record.valid() || (plan.options.strict && record.Count(LintLevel::kWarning) > 0);
  if (const std::string& path = plan.run.save.record; !path.empty()) {
    log.Info("Saving linting report to " + path);
    AddFault(WriteFileAtomically(path, ToJson(record)), outcome.faults, log);
  }
  return outcome;
}

}  // namespace vernier
