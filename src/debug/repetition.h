// Repetition of a check, or of the build of an engine and its check.
#pragma once

#include <cstdint>
#include <optional>

#include "debug/debug_session.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// When to stop: after so many iterations, or after the first good or bad one.
struct RepeatUntil {
  std::optional<int64_t> count;
  bool good = false;  ///< without a count

  bool Reached(int64_t iterations, bool passed) const {
    return count ? iterations >= *count : passed == good;
  }
};

/// Iterations of one trial. Errors of the session.
Status Repeat(const DebugTrial& trial, const RepeatUntil& until, DebugSession& session,
              Logger& log);

/// Builds the engine of the plan's one runner in each iteration, as the session's file, and checks
/// it. One that cannot be built is a bad iteration.
Status RepeatBuild(RunPlan build, const RepeatUntil& until, DebugSession& session, Logger& log);

}  // namespace vernier
