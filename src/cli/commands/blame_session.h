// Carrying out a BlamePlan: from the plan to the tables and the exit code.
#pragma once

#include <atomic>

#include "blame/blame_plan.h"
#include "blame/blame_run.h"
#include "cli/bind_run.h"
#include "record/run_record.h"
#include "report/console_log.h"
#include "run/exit_code.h"

namespace vernier {

/// Investigates, saves, and writes the plan's reports, which tell of `origin`. The faults say how
/// it went; a mismatch is that something is to blame. `interrupted` is set by a signal handler.
BlameOutcome Investigate(const BlamePlan& plan, const OriginRecord& origin,
                         const Invocation& invocation, const std::atomic<int>& interrupted,
                         Logger& log);

/// The same until SIGINT, SIGTERM or SIGHUP; prints the tables, too.
BlameOutcome Blame(const BlamePlan& plan, const OriginRecord& origin, const Invocation& invocation,
                   ConsoleLog& log);

}  // namespace vernier
