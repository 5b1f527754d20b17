#include "cli/commands/comparison_session.h"

#include <cstdio>

#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "options/bind/describe_origin.h"
#include "options/bind/plan_words.h"
#include "options/bind/shell_command.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "report/files/report_files.h"
#include "report/text/blame_text.h"
#include "report/text/run_summary.h"
#include "run/phases/shard_ending.h"

namespace vernier {
namespace {

// The command of the shard, for merge. What no words say has none.
void NameCommand(const Invocation& invocation, RunPlan& plan) {
  if (!plan.shard.wanted()) return;
  Result<std::vector<std::string>> words = PlanWords(plan, invocation);
  if (!words.ok()) return;
  plan.shard.folder = CurrentFolder();
  plan.shard.words = {invocation.words.front()};
  plan.shard.words.insert(plan.shard.words.end(), words->begin(), words->end());
}

int Execute(RunPlan plan, SessionContext context, const Invocation& invocation, ConsoleLog& log) {
  NameCommand(invocation, plan);
  context.blamed = [&log](const BlameRecord& blame) { ShowBlame(blame, log); };
  const RunOutcome outcome = CarryOutRun(plan, context);
  const int code = EndWithBanner(log, outcome.record.seconds, outcome.faults, invocation);
  const bool interleaved = !plan.execution.sequential && plan.runners.size() > 1;
  const std::string summary = FormatRunSummary(
      outcome.record,
      {interleaved, log.Enabled(Severity::kVerbose), ReproCommand(plan, invocation)});
  if (!summary.empty()) log.Plain(summary);
  if (!invocation.as_polygraphy) AnnotateWorkflow(outcome.record, log);
  // Its verdict is a part of the merge's.
  const bool done = plan.shard.ends_done && IsDone(outcome.faults);
  return CloseLog(log, done ? 0 : code, invocation);
}

}  // namespace

SessionContext ContextOf(const ParsedArgs& args, const OptionTable& table,
                         const Invocation& invocation, Logger& log) {
  SessionContext context{log, WatchSignals()};
  context.origin = DescribeOrigin(args, table, invocation);
  context.as_polygraphy = invocation.as_polygraphy;
  context.show_progress = !ReadField<&LogWords::no_progress>(args);
  return context;
}

void ShowBlame(const BlameRecord& record, ConsoleLog& log) {
  const bool shows = !record.layers.empty() || record.on_flips;
  if (shows) log.Plain(FormatBlame(record, log.Enabled(Severity::kVerbose)));
}

void AnnotateWorkflow(const RunRecord& record, ConsoleLog& log) {
  const Result<std::string> annotations = AnnotateGitHub(record);
  if (!annotations.ok()) log.Warning(annotations.status().message());
  if (annotations.ok() && !annotations->empty()) log.WorkflowCommands(*annotations);
}

int EndWithBanner(ConsoleLog& log, double seconds, const RunFaults& faults,
                  const Invocation& invocation) {
  const int code = ExitCode(faults, invocation.as_polygraphy);
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

int CarryOut(const RunPlan& plan, const SessionContext& context, const Invocation& invocation,
             ConsoleLog& log) {
  RunFaults faults;
  if (const Status status = CheckRun(plan); !status.ok()) {
    log.Critical(status.message());
    faults.Add(status);
    return EndWithBanner(log, 0, faults, invocation);
  }
  if (plan.runners.empty() && plan.load_outputs.empty()) {
    // Polygraphy says PASSED; nothing was done that could have.
    faults.usage = !invocation.as_polygraphy;
    return EndWithBanner(log, 0, faults, invocation);
  }
  return Execute(plan, context, invocation, log);
}

}  // namespace vernier
