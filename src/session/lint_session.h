// `check lint`: from the plan to the report, what is logged, and what is saved.
#pragma once

#include <atomic>
#include <string>

#include "lint/lint.h"
#include "run/exit_code.h"
#include "util/log.h"
#include "vernier/run_plan.h"

namespace vernier {

struct LintPlan {
  std::string path;
  std::string output;
  bool strict = false;
  bool default_runner = false;  ///< none was named: that there is none is no fault
  LintOptions options;
  ModelPlan model;  ///< as the options change it
  RunPlan run;
};

struct LintOutcome {
  LintReport report;
  Status asked =
      {};  ///< why a runner could not be asked; what the rules say is reported all the same
  RunFaults faults = {};  ///< mismatch: an exception, or under --strict a warning
};

/// Checks the model, logs each finding, and writes the report to `output`, if that is named.
/// kCancelled where it was interrupted.
Result<LintOutcome> LintAndTell(const LintPlan& plan, const std::atomic<int>& interrupted,
                                Logger& log);

}  // namespace vernier
