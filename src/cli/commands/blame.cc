// Which layer is to blame.
#include <chrono>

#include "blame/blame_run.h"
#include "cli/bind_blame.h"
#include "cli/commands/blame_session.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "cli/commands/origin.h"
#include "report/blame_text.h"
#include "report/report_files.h"
#include "run/model_graph.h"
#include "util/atomic_file.h"

namespace vernier {

namespace {

void WriteReports(const BlamePlan& plan, const OriginRecord& origin, BlameOutcome& outcome,
                  Logger& log) {
  if (plan.run.save.reports.empty()) return;
  RunRecord record = RecordOf(outcome.record);
  record.origin = origin;
  if (plan.run.save.WantsPage()) record.graph = FindModelGraph(plan.run);
  for (const ReportFile& report : plan.run.save.reports) {
    log.Info("Saving report to " + report.path);
    if (const Status status = WriteReport(report, record); !status.ok()) {
      log.Critical(status.message());
      outcome.faults.Add(status);
    }
  }
}

}  // namespace

BlameOutcome Investigate(const BlamePlan& plan, const OriginRecord& origin,
                         const Invocation& invocation, const std::atomic<int>& interrupted,
                         Logger& log) {
  BlameOutcome outcome = ExecuteBlame(plan, log, interrupted);
  BlameRecord& record = outcome.record;
  record.exit_code = ExitCode(outcome.faults, invocation.as_peer);
  if (!plan.save.empty()) {
    if (const Status saved = WriteFileAtomically(plan.save, ToJson(record)); !saved.ok()) {
      log.Critical(saved.message());
      outcome.faults.Add(saved);
    }
  }
  WriteReports(plan, origin, outcome, log);
  return outcome;
}

BlameOutcome Blame(const BlamePlan& plan, const OriginRecord& origin, const Invocation& invocation,
                   ConsoleLog& log) {
  BlameOutcome outcome = Investigate(plan, origin, invocation, WatchSignals(), log);
  const BlameRecord& record = outcome.record;
  if (!record.layers.empty()) log.Plain(FormatBlame(record, log.Enabled(Severity::kVerbose)));
  return outcome;
}

int BlameCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("blame"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  Result<RunPlan> run = BindRun(start.args, invocation, log);
  if (!run.ok()) return EndCommand(run.status(), invocation, log);
  Result<BlamePlan> plan = BindBlame(start.args, *std::move(run));
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  plan->charts = plan->run.save.WantsPage();
  log.Start("RUNNING | Command: " + invocation.command);
  const auto begin = std::chrono::steady_clock::now();
  RunFaults faults;
  RunRecord record;
  if (const Status status = CheckRun(plan->run); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
  } else {
    const OriginRecord origin =
        DescribeOrigin(start.args, FindCommand("blame")->options(), invocation);
    const BlameOutcome outcome = Blame(*plan, origin, invocation, log);
    faults = outcome.faults;
    record = RecordOf(outcome.record);
    record.origin = origin;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const int code = EndWithBanner(log, seconds.count(), faults, invocation);
  if (record.blame) TellWorkflow(record, log);
  return code;
}

}  // namespace vernier
