// `check consistency`: from the command line to the plan, and from that to what is told.
#pragma once

#include <atomic>

#include "check/consistency.h"
#include "cli/bind_run.h"
#include "run/exit_code.h"

namespace vernier {

struct ConsistencyPlan {
  RunPlan run;
  ConsistencyOptions options;
};

struct ConsistencyOutcome {
  ConsistencyRecord record;
  RunFaults faults;  ///< mismatch: a property is broken
};

/// kInvalidArgument, naming the flag, and as BindRun and CheckRun.
Result<ConsistencyPlan> BindConsistency(const ParsedArgs& args, const Invocation& invocation,
                                        Logger& log);

/// Tries the properties, tells each as it is done, and writes --save-record. Errors as
/// CheckConsistency.
Result<ConsistencyOutcome> TryConsistency(const ConsistencyPlan& plan, const Invocation& invocation,
                                          const std::atomic<int>& interrupted, Logger& log);

}  // namespace vernier
