// `check extremes`: from the command line to the plan, and from that to what is told.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "check/extremes.h"
#include "cli/bind_run.h"
#include "run/exit_code.h"

namespace vernier {

struct ExtremesPlan {
  RunPlan run;
  std::vector<ExtremeSetRow> sets;
  bool sets_named = false;  ///< --sets: each must be tried
  bool strict = false;
};

struct ExtremesOutcome {
  ExtremesRecord record;
  RunFaults faults;  ///< mismatch: runners differ in what is finite
};

/// kInvalidArgument, naming the flag or that no runner is named; as BindRun and CheckRun.
Result<ExtremesPlan> BindExtremes(const ParsedArgs& args, const Invocation& invocation,
                                  Logger& log);

/// Tries the sets, tells what came out, and writes --save-record. Errors as CheckExtremes.
Result<ExtremesOutcome> TryExtremes(const ExtremesPlan& plan, const Invocation& invocation,
                                    const std::atomic<int>& interrupted, Logger& log);

/// The table of what came out, runners by their short names; "" where nothing was tried.
std::string FormatAnswers(const ExtremesRecord& record);

}  // namespace vernier
