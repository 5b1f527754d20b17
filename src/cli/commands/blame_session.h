// Carrying out a BlamePlan: from the plan to the tables and the exit code.
#pragma once

#include "blame/blame_plan.h"
#include "blame/blame_run.h"
#include "cli/bind_run.h"
#include "record/run_record.h"
#include "report/console_log.h"
#include "run/exit_code.h"

namespace vernier {

/// Investigates, prints, saves, and writes the plan's reports, which tell of `origin`. The faults
/// say how it went; a mismatch is that something is to blame.
BlameOutcome Blame(const BlamePlan& plan, const OriginRecord& origin, const Invocation& invocation,
                   ConsoleLog& log);

}  // namespace vernier
