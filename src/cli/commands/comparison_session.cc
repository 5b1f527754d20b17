#include "cli/commands/comparison_session.h"

#include <atomic>
#include <cstdio>
#include <memory>

#include "cli/bind_blame.h"
#include "cli/commands/blame_session.h"
#include "cli/commands/interruption.h"
#include "cli/commands/origin.h"
#include "cli/script/shell_command.h"
#include "cli/version.h"
#include "report/report_files.h"
#include "report/run_reporter.h"
#include "report/run_summary.h"
#include "run/executor.h"
#include "run/model_graph.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

void BlameAfterwards(const RunPlan& run, const ParsedArgs& args, const Invocation& invocation,
                     ConsoleLog& log, RunOutcome& outcome) {
  RunFaults& faults = outcome.faults;
  // Reports tell of both, and are written last.
  RunPlan blamed = run;
  blamed.save.reports.clear();
  Result<BlamePlan> plan = BindBlame(args, std::move(blamed));
  if (!plan.ok()) {
    log.Critical(plan.status().message());
    faults.Add(plan.status());
    return;
  }
  plan->charts = run.save.WantsPage();
  BlameOutcome blame = Blame(*plan, {}, invocation, log);
  if (!blame.record.layers.empty()) {
    outcome.record.blame = std::make_shared<const BlameRecord>(std::move(blame.record));
  }
  faults.Add(blame.faults);
}

int Execute(const RunPlan& plan, const ParsedArgs& args, const CommandEntry& command,
            const Invocation& invocation, ConsoleLog& log) {
  const std::atomic<int>& interrupted = WatchSignals();
  RunReporter reporter(log, plan, args.Has("no_progress"));
  RunOutcome outcome = ExecuteRun(plan, log, reporter, interrupted);
  const bool well = ExitCode(outcome.faults, invocation.as_peer) == 0;
  for (const Status& status : {reporter.SaveAccuracy(), reporter.FinishPictures(well)}) {
    if (status.ok()) continue;
    log.Critical(status.message());
    outcome.faults.Add(status);
  }
  // Frameworks that failed would only fail again.
  const bool ran = outcome.faults.signal == 0 && !outcome.faults.backend;
  if (args.Has("blame") && ran) BlameAfterwards(plan, args, invocation, log, outcome);
  CompleteRecord(outcome, plan, args, command, invocation);
  SaveRecordAndReports(plan.save, outcome.record, outcome.faults, log);
  const int code = EndWithBanner(log, outcome.record.seconds, outcome.faults, invocation);
  const bool interleaved = !plan.execution.sequential && plan.runners.size() > 1;
  const std::string summary = FormatRunSummary(
      outcome.record, {interleaved, log.Enabled(Severity::kVerbose), ReproCommand(invocation)});
  if (!summary.empty()) log.Plain(summary);
  if (!invocation.as_peer) TellWorkflow(outcome.record, log);
  return CloseLog(log, code, invocation);
}

}  // namespace

void CompleteRecord(RunOutcome& outcome, const RunPlan& plan, const ParsedArgs& args,
                    const CommandEntry& command, const Invocation& invocation) {
  outcome.record.command = invocation.command;
  outcome.record.version = kVersion;
  outcome.record.origin = DescribeOrigin(args, command.options(), invocation);
  if (plan.save.WantsCharts()) outcome.record.graph = FindModelGraph(plan);
  outcome.record.exit_code = ExitCode(outcome.faults, invocation.as_peer);
}

void SaveRecordAndReports(const SavePlan& plan, const RunRecord& record, RunFaults& faults,
                          Logger& log) {
  const auto check = [&](const Status& status) {
    if (status.ok()) return;
    log.Critical(status.message());
    faults.Add(status);
  };
  if (!plan.record.empty()) check(WriteFileAtomically(plan.record, ToJson(record)));
  for (const ReportFile& report : plan.reports) {
    log.Info("Saving report to " + report.path);
    check(WriteReport(report, record));
  }
}

void TellWorkflow(const RunRecord& record, ConsoleLog& log) {
  const Result<std::string> annotations = TellGitHub(record);
  if (!annotations.ok()) log.Warning(annotations.status().message());
  if (annotations.ok() && !annotations->empty()) log.WorkflowCommands(*annotations);
}

int EndWithBanner(ConsoleLog& log, double seconds, const RunFaults& faults,
                  const Invocation& invocation) {
  const int code = ExitCode(faults, invocation.as_peer);
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", seconds);
  const std::string line = std::string(code == 0 ? "PASSED" : "FAILED") + " | Runtime: " + text +
                           "s | Command: " + invocation.command;
  if (code == 0) {
    log.Finish(line);
  } else {
    log.Error(line);
  }
  return code;
}

int CarryOut(const RunPlan& plan, const ParsedArgs& args, const CommandEntry& command,
             const Invocation& invocation, ConsoleLog& log) {
  RunFaults faults;
  if (const Status status = CheckRun(plan); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
    return EndWithBanner(log, 0, faults, invocation);
  }
  if (plan.runners.empty() && plan.load_outputs.empty()) {
    // The peer says PASSED; nothing was done that could have.
    faults.usage = !invocation.as_peer;
    return EndWithBanner(log, 0, faults, invocation);
  }
  return Execute(plan, args, command, invocation, log);
}

}  // namespace vernier
