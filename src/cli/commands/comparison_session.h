// The commands that carry out a plan: what the command line adds to a session, up to the last line
// and the exit code.
#pragma once

#include "cli/table/command_table.h"
#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "report/text/console_log.h"
#include "run/outcome/exit_code.h"
#include "session/run/run_session.h"
#include "vernier/run_plan.h"

namespace vernier {

/// What the command line brings beside the plan. From now on SIGINT, SIGTERM and SIGHUP end a
/// session in order. `table` has the command's options, whose defaults are recorded.
SessionContext ContextOf(const ParsedArgs& args, const OptionTable& table,
                         const Invocation& invocation, Logger& log);

/// Runs, compares, saves and reports; returns the exit code.
int CarryOut(const RunPlan& plan, const SessionContext& context, const Invocation& invocation,
             ConsoleLog& log);

/// Prints the table of blame, if layers were looked at.
void ShowBlame(const BlameRecord& record, ConsoleLog& log);

/// In a GitHub workflow: annotations, and the summary of the step. Printed last, where users look.
void AnnotateWorkflow(const RunRecord& record, ConsoleLog& log);

/// Polygraphy's last line, "PASSED | Runtime: ..." or FAILED; returns the exit code.
int EndWithBanner(ConsoleLog& log, double seconds, const RunFaults& faults,
                  const Invocation& invocation);

}  // namespace vernier
