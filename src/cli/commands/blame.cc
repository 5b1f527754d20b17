// Which layer is to blame.
#include <chrono>

#include "blame/blame_run.h"
#include "cli/bind_blame.h"
#include "cli/commands/blame_session.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/commands/interruption.h"
#include "report/blame_text.h"
#include "util/atomic_file.h"

namespace vernier {

RunFaults Blame(const BlamePlan& plan, const Invocation& invocation, ConsoleLog& log) {
  BlameOutcome outcome = ExecuteBlame(plan, log, WatchSignals());
  BlameRecord& record = outcome.record;
  record.exit_code = ExitCode(outcome.faults, invocation.as_peer);
  if (!plan.save.empty()) {
    if (const Status saved = WriteFileAtomically(plan.save, ToJson(record)); !saved.ok()) {
      log.Critical(saved.message());
      outcome.faults.Add(saved);
    }
  }
  if (!record.layers.empty()) log.Plain(FormatBlame(record, log.Enabled(Severity::kVerbose)));
  return outcome.faults;
}

int BlameCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("blame"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  Result<RunPlan> run = BindRun(start.args, invocation, log);
  if (!run.ok()) return EndCommand(run.status(), invocation, log);
  const Result<BlamePlan> plan = BindBlame(start.args, *std::move(run));
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  log.Start("RUNNING | Command: " + invocation.command);
  const auto begin = std::chrono::steady_clock::now();
  RunFaults faults;
  if (const Status status = CheckRun(plan->run); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
  } else {
    faults = Blame(*plan, invocation, log);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, seconds.count(), faults, invocation);
}

}  // namespace vernier
