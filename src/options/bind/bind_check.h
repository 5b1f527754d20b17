// From the command line to the plans of `check consistency`, `check extremes` and `check lint`.
#pragma once

#include "options/bind/bind_run.h"
#include "session/run/consistency_session.h"
#include "session/run/extremes_session.h"
#include "session/run/lint_session.h"

namespace vernier {

/// kInvalidArgument, naming the flag, and as BindRun and CheckRun.
Result<ConsistencyPlan> BindConsistency(const ParsedArgs& args, const Invocation& invocation,
                                        Logger& log);

/// kInvalidArgument, naming the flag or that no runner is named; as BindRun and CheckRun.
Result<ExtremesPlan> BindExtremes(const ParsedArgs& args, const Invocation& invocation,
                                  Logger& log);

/// kInvalidArgument, naming the flag; as CheckLintOptions and BindRun.
Result<LintPlan> BindLint(const ParsedArgs& args, const Invocation& invocation, Logger& log);

}  // namespace vernier
