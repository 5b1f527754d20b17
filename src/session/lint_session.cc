#include "session/lint_session.h"

#include <string>
#include <utility>
#include <vector>

#include "check/lint_run.h"
#include "inputs/shape_grid.h"
#include "lint/rules.h"
#include "run/feeds/feed_plan.h"
#include "run/runner/changed_model.h"
#include "util/atomic_file.h"
#include "util/counted.h"
#include "util/paths.h"

namespace vernier {
namespace {

void TellFinding(const LintFinding& finding, Logger& log) {
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

// Polygraphy only warns of sizes that cannot be used.
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
    TellFinding(linted.report.findings.front(), log);
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
  for (const LintFinding& finding : findings.list()) TellFinding(finding, log);
  if (asked.code() == StatusCode::kCancelled) return asked;
  VERNIER_TRY(model->CheckIntact());
  LintOutcome linted{MakeLintReport(*model, std::move(findings), runs), std::move(asked)};
  linted.report.runners = std::move(told.runners);
  Summarise(linted.report, model->graph().nodes.size(), log);
  return linted;
}

}  // namespace

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

}  // namespace vernier
