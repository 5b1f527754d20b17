// The commands that carry out a RunPlan: from the plan to the last line and the exit code.
#pragma once

#include "cli/arg_parser.h"
#include "cli/bind_run.h"
#include "cli/command_table.h"
#include "report/console_log.h"
#include "run/executor.h"
#include "run/exit_code.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Runs, compares, saves and reports; returns the exit code. `args` are the command line that the
/// plan was made from, of `command`. Ends cleanly on SIGINT, SIGTERM and SIGHUP.
int CarryOut(const RunPlan& plan, const ParsedArgs& args, const CommandEntry& command,
             const Invocation& invocation, ConsoleLog& log);

/// Adds to a record what only the command line knows, the graph if it is to be saved, and the exit
/// code.
void CompleteRecord(RunOutcome& outcome, const RunPlan& plan, const ParsedArgs& args,
                    const CommandEntry& command, const Invocation& invocation);

/// Writes --save-record and every --report. What cannot be written is a critical line and a fault.
void SaveRecordAndReports(const SavePlan& plan, const RunRecord& record, RunFaults& faults,
                          Logger& log);

/// In a GitHub workflow: annotations, and the summary of the step. Last of all, where one looks.
void TellWorkflow(const RunRecord& record, ConsoleLog& log);

/// The peer's last line, "PASSED | Runtime: ..." or FAILED; returns the exit code.
int EndWithBanner(ConsoleLog& log, double seconds, const RunFaults& faults,
                  const Invocation& invocation);

}  // namespace vernier
