// `check lint`: from the plan to the report, what is logged, and what is saved.
#pragma once

#include <atomic>

#include "run/outcome/exit_code.h"
#include "util/log/log.h"
#include "vernier/checks.h"
#include "vernier/lint_record.h"
#include "vernier/run_plan.h"

namespace vernier {

struct LintPlan {
  RunPlan run;
  LintOptions options;
  bool default_runner = false;  ///< none was named: that there is none is no fault
};

struct LintOutcome {
  LintRecord record;
  RunFaults faults = {};  ///< mismatch: an exception, or under --strict a warning
};

/// The checks before the model is opened. kInvalidArgument without a model, or for a rule that does
/// not exist; kUnimplemented where the model is not ONNX; kMalformed where it is missing.
Status CheckLintOptions(const LintOptions& options);

/// Checks the model, logs each finding, and saves the record where the plan says so. The findings
/// of the rules are in it even if a runner could not be used. kCancelled where it was interrupted.
Result<LintOutcome> LintAndReport(const LintPlan& plan, const std::atomic<int>& interrupted,
                                  Logger& log);

}  // namespace vernier
