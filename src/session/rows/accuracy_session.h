// `check accuracy`: re-checks saved metrics against new thresholds, without the tensors.
#pragma once

#include <string>
#include <vector>

#include "run/outcome/exit_code.h"
#include "util/log/log.h"
#include "vernier/accuracy_record.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

struct AccuracyPlan {
  RunPlan run;       ///< its thresholds, and where it saves the results
  std::string path;  ///< Polygraphy's file of accuracy results
  /// The thresholds of `simple` are requested: its default, elemwise, cannot be judged again.
  bool simple = false;
  std::vector<std::string> picture_flags;  ///< that need tensors, which the file does not have
};

struct AccuracyOutcome {
  AccuracyRecord record;
  Status ended = {};  ///< why it could not be judged or saved: counted in `faults`, and logged
  /// Mismatch: a threshold is exceeded; incomplete: something asked for was not checked; errors of
  /// reading and saving.
  RunFaults faults = {};
};

/// Judges, logs what came out and what could not be checked, and saves.
AccuracyOutcome JudgeAccuracy(const AccuracyPlan& plan, Logger& log);

}  // namespace vernier
