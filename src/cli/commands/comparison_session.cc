#include "cli/commands/comparison_session.h"

#include <atomic>
#include <cstdio>

#include "cli/bind_blame.h"
#include "cli/commands/blame_session.h"
#include "cli/commands/interruption.h"
#include "cli/script/shell_command.h"
#include "cli/version.h"
#include "report/run_reporter.h"
#include "report/run_summary.h"
#include "run/executor.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

void SaveRecord(const std::string& path, const RunRecord& record, RunFaults& faults, Logger& log) {
  if (path.empty()) return;
  if (const Status status = WriteFileAtomically(path, ToJson(record)); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
  }
}

void BlameAfterwards(const RunPlan& run, const ParsedArgs& args, const Invocation& invocation,
                     ConsoleLog& log, RunFaults& faults) {
  const Result<BlamePlan> plan = BindBlame(args, run);
  if (!plan.ok()) {
    log.Critical(plan.status().message());
    faults.Add(plan.status());
    return;
  }
  const RunFaults found = Blame(*plan, invocation, log);
  faults.mismatch |= found.mismatch;
  faults.backend |= found.backend;
  faults.unavailable |= found.unavailable;
  faults.incomplete |= found.incomplete;
  faults.unsaved |= found.unsaved;
  faults.malformed |= found.malformed;
  faults.usage |= found.usage;
  faults.internal |= found.internal;
  if (found.signal != 0) faults.signal = found.signal;
}

int Execute(const RunPlan& plan, const ParsedArgs& args, const Invocation& invocation,
            ConsoleLog& log) {
  const std::atomic<int>& interrupted = WatchSignals();
  RunReporter reporter(log, plan, args.Has("no_progress"));
  RunOutcome outcome = ExecuteRun(plan, log, reporter, interrupted);
  outcome.record.command = invocation.command;
  outcome.record.version = kVersion;
  const bool well = ExitCode(outcome.faults, invocation.as_peer) == 0;
  for (const Status& status : {reporter.SaveAccuracy(), reporter.FinishPictures(well)}) {
    if (status.ok()) continue;
    log.Critical(status.message());
    outcome.faults.Add(status);
  }
  outcome.record.exit_code = ExitCode(outcome.faults, invocation.as_peer);
  SaveRecord(plan.save.record, outcome.record, outcome.faults, log);
  // Frameworks that failed would only fail again.
  const bool ran = outcome.faults.signal == 0 && !outcome.faults.backend;
  if (args.Has("blame") && ran) BlameAfterwards(plan, args, invocation, log, outcome.faults);
  const int code = EndWithBanner(log, outcome.record.seconds, outcome.faults, invocation);
  const bool interleaved = !plan.execution.sequential && plan.runners.size() > 1;
  const std::string summary =
      FormatRunSummary(outcome.record, {interleaved, log.Enabled(Severity::kVerbose),
                                        ReproCommand(invocation)});
  if (!summary.empty()) log.Plain(summary);
  if (code == 0 && !log.Close()) {
    std::fprintf(stderr, "[!] --log-file: not everything could be written\n");
    return invocation.as_peer ? 1 : 7;
  }
  return code;
}

}  // namespace

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

int CarryOut(const RunPlan& plan, const ParsedArgs& args, const Invocation& invocation,
             ConsoleLog& log) {
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
  return Execute(plan, args, invocation, log);
}

}  // namespace vernier
