// The checks of `vernier check`, for your own programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/accuracy_record.h"
#include "vernier/consistency_record.h"
#include "vernier/extremes_record.h"
#include "vernier/lint_record.h"
#include "vernier/run_plan.h"
#include "vernier/session.h"
#include "vernier/status.h"

namespace vernier {

struct ConsistencyOptions {
  int64_t repeats = 5;            ///< of the same inference, from 2 on
  int64_t rows = 8;               ///< of the largest batch, from 2 on
  int64_t steps = 4;              ///< inferences after each reset of a model that keeps state
  std::vector<std::string> only;  ///< names of properties; empty: all
  std::vector<std::string> skip;
};

struct ExtremesOptions {
  std::vector<std::string> sets;  ///< names: "denormals"; each must be tried. Empty: the usual ones
  bool strict = false;            ///< differences other than in which elements are finite fail, too
};

struct LintOptions {
  /// The model to check, and how it is read. Without a path: the model of the plan's first runner.
  ModelPlan model;
  std::vector<std::string> skip;  ///< names of rules that leave no finding: "unused-node"
  bool strict = false;            ///< warnings give the exit code 1, too
};

/// What a check found, and the exit code of `vernier check`: 1 if a property is broken, 0 if all
/// that was requested was checked and holds (docs/exit-codes.md).
template <typename Record>
struct Checked {
  Record record;
  int exit_code = 0;
};

/// Checks each of the plan's runners for self-consistency, with the plan's inputs. Its tolerances
/// are those of the comparison; ToleranceRule::kAuto as the fallback is what `vernier check
/// consistency` takes without one. Saves to plan.save.record. Errors as Run(), kInvalidArgument for
/// a property that does not exist, and kCancelled.
Result<Checked<ConsistencyRecord>> CheckConsistency(const RunPlan& plan,
                                                    const ConsistencyOptions& check = {},
                                                    const SessionOptions& options = {});

/// Reports how the plan's runners handle extreme float inputs. Saves to plan.save.record. Errors as
/// Run(), kInvalidArgument for a set that does not exist, and kCancelled.
Result<Checked<ExtremesRecord>> CheckExtremes(const RunPlan& plan,
                                              const ExtremesOptions& check = {},
                                              const SessionOptions& options = {});

/// Finds the faults of an ONNX model: by rules, which need neither a framework nor the program
/// `vernier`, and by running it and its nodes with the plan's runners, which must have the same
/// model. Of the plan's inputs `shape_words` count for rules as well. A file that is not an ONNX
/// model, or is damaged, is a finding; so is whatever a runner refuses. A missing runner is
/// LintRecord::failure, and exit code 5. Saves to plan.save.record, in Polygraphy's format. Errors
/// as Run(); kInvalidArgument without a model, for a rule that does not exist and for a runner of
/// another model; kUnimplemented for a model that is not ONNX by its name or content; kMalformed
/// for one that is not there; kCancelled.
Result<Checked<LintRecord>> CheckLint(const RunPlan& plan, const LintOptions& check = {},
                                      const SessionOptions& options = {});

/// Judges the metrics that a run saved to the file `path` (SavePlan::accuracy) by the thresholds of
/// plan.compare, and saves the new verdicts to plan.save.accuracy. Nothing is run: only `compare`,
/// `lenient` and these two members of the plan count, and the program `vernier` is not needed.
/// `simple` needs another statistic than elements (CompareOptions::check_error_stat), which are not
/// saved. The exit code is 1 where a threshold is exceeded, 4 where nothing, or less than was asked
/// for, could be judged, and 7 where the verdicts could not be saved. Errors: kInvalidArgument
/// without a path, for a function of which the file has no metrics, for `simple` without such a
/// statistic, and where the file judged would be overwritten; kNotFound for thresholds of an output
/// that the file does not have; kMalformed for a file that is missing or holds no such results.
Result<Checked<AccuracyRecord>> CheckAccuracy(const RunPlan& plan, const std::string& path,
                                              const SessionOptions& options = {});

}  // namespace vernier
