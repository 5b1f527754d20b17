// What every phase of a run is given.
#pragma once

#include <atomic>

#include "run/outcome/run_observer.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// All must outlive the run.
struct RunContext {
  const RunPlan& plan;
  Logger& logger;
  RunObserver& observer;
  const std::atomic<int>& interrupted;  ///< set by a signal handler

  /// kCancelled once a signal has come.
  Status CheckInterrupted() const {
    if (interrupted.load() == 0) return {};
    return Cancelled("interrupted; what was finished before is saved");
  }
};

}  // namespace vernier
