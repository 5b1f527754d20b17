// From a plan to the record, for the command line, the Python package and session.h alike: what is
// done around a run, once.
#pragma once

#include <atomic>
#include <ctime>
#include <functional>

#include "blame/search/blame_run.h"
#include "run/executor.h"
#include "run/outcome/exit_code.h"
#include "run/profile/profile_run.h"
#include "run/workers/embedder.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/session.h"

namespace vernier {

/// What the caller provides besides the plan. It does not affect the result.
struct SessionContext {
  Logger& logger;
  const std::atomic<int>& interrupted;  ///< set by a signal handler
  OriginRecord origin = {};             ///< who called, for the record
  bool as_polygraphy = false;           ///< every fault ends in the exit code 1
  bool show_progress = false;           ///< on stderr, where that is a terminal
  SessionEvents events = {};
  std::function<void(const BlameRecord&)> blamed = {};  ///< before reports are written
  const Embedder* caller = nullptr;
};

/// Runs and compares; saves accuracy results and pictures; searches for the layer to blame where
/// the plan asks for it; completes the record, and saves it with its reports. The record's exit
/// code counts everything.
RunOutcome CarryOutRun(const RunPlan& plan, const SessionContext& context);

/// Searches, saves, and writes the plan's reports.
BlameOutcome CarryOutBlame(const BlamePlan& plan, const SessionContext& context);

/// Measures; completes the record, and saves it with its reports, also as it grows: what was
/// measured survives the death of this process.
RunOutcome CarryOutProfile(const RunPlan& plan, ProfileOptions options,
                           const SessionContext& context);

/// Completes a record that was made otherwise, saves it, and writes its reports. What cannot be
/// written is a critical line and a fault.
void FinishRecord(const RunPlan& plan, const SessionContext& context, RunOutcome& outcome);

/// The machine, the folder and the time: what a record says of a call besides its words.
OriginRecord DescribeMachine(std::time_t now);

}  // namespace vernier
