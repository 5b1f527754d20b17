// `check lint`: from the command line to the plan, and from that to what is told.
#pragma once

#include <atomic>
#include <string>

#include "cli/bind_run.h"
#include "lint/lint.h"
#include "run/exit_code.h"

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

/// kInvalidArgument, naming the flag; kMalformed where the model is missing; as BindRun.
Result<LintPlan> BindLint(const ParsedArgs& args, const Invocation& invocation, Logger& log);

/// Checks the model, tells each finding, and writes --output. kCancelled where it was interrupted.
Result<LintOutcome> LintAndTell(const LintPlan& plan, const std::atomic<int>& interrupted,
                                Logger& log);

}  // namespace vernier
