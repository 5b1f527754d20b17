// `check extremes`: from the plan to the record, what is logged, and what is saved.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "check/extremes/extremes.h"
#include "run/outcome/exit_code.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"

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

/// The sets of these names, or those that are tried where none is named. kInvalidArgument, with all
/// names, for one that does not exist.
Result<std::vector<ExtremeSetRow>> ChooseExtremeSets(std::span<const std::string> names);

/// Tries the sets, logs what came out, and saves the record where the plan says so. Errors as
/// CheckExtremes.
Result<ExtremesOutcome> TryExtremes(const ExtremesPlan& plan, const std::atomic<int>& interrupted,
                                    Logger& log);

/// The table of what came out, runners by their short names; "" where nothing was tried.
std::string FormatAnswers(const ExtremesRecord& record);

}  // namespace vernier
