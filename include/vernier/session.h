// Runs for your own programs: fill a RunPlan, get a RunRecord.
//
// Frameworks never load into your process. Each one works in a process of the program `vernier`,
// which must therefore be installed beside the library (SessionOptions::program). A model or a
// framework that crashes ends as a sentence in the record.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "vernier/blame_record.h"
#include "vernier/log.h"
#include "vernier/profile_options.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Called during a run, from the thread that called Run(). Empty functions are not called. The
/// arguments end with the call; copies of tensors share their bytes and may be kept.
struct SessionEvents {
  /// What every runner is fed in an iteration. With ExecutionPlan::sequential called once a runner.
  std::function<void(int64_t iteration, const TensorMap& feed)> feed_made;
  /// What one runner computed. Setting it makes vernier copy outputs from devices to the host.
  std::function<void(int64_t iteration, const IterationResult& outputs)> outputs_made;
  /// Inferences done; `total` is 0 while it is not known.
  std::function<void(int64_t done, int64_t total)> progress;
};

struct SessionOptions {
  /// Receives the lines that `vernier run` would print; null: none are made. Must outlive the call.
  Logger* logger = nullptr;
  /// Set it from a signal handler, to the signal's number: the run ends in order, and what it
  /// finished is in the record. May be null. Must outlive the call.
  const std::atomic<int>* interrupted = nullptr;
  /// The executable `vernier`. Empty: $VERNIER_PROGRAM, else `vernier` on the PATH, else where this
  /// library was installed. The first call in a process decides for all.
  std::string program;
  SessionEvents events;
};

/// A runner labelled `name` with the model at `path`. `backend` is what the first word of --runner
/// is: a backend's name ("onnxruntime", "openvino", "tensorrt", ...) or that of its flag ("onnxrt",
/// "trt", "tf"), `SCRIPT.py[:FUNCTION]`, or the path of a program.
RunnerPlan MakeRunner(std::string name, std::string backend, std::string path);

/// Completes the plans of runners as the command line does, before any framework loads: what runs
/// the backend, which format the model has (RunnerPlan::model.type, if it is not given), whether it
/// must be converted. Run() and Blame() do so with a copy; a complete plan does not change.
/// kInvalidArgument for a model that the backend cannot take, or whose format cannot be determined;
/// kMalformed for a script that is not there. `logger`, which may be null, is warned of models that
/// are not there.
Status ResolveRunners(RunPlan& plan, Logger* logger = nullptr);

/// Checks a plan that ResolveRunners() completed, before anything is opened: models, scripts and
/// loaded files exist, nothing that is saved overwrites what is read, options can be combined.
/// kInvalidArgument or kMalformed, in one sentence.
Status ValidatePlan(const RunPlan& plan);

/// Carries out the plan: runs, compares, searches for the layer to blame if the plan requests it,
/// saves. Errors are those of ResolveRunners() and ValidatePlan(), kUnavailable where `vernier` is
/// not found, and kInvalidArgument for the name of a backend that does not exist; whatever goes
/// wrong later (a crash, a mismatch, a full disk) is in the record, whose exit_code is that of
/// `vernier run` (docs/exit-codes.md): 0 where everything asked for was done and agreed. One call
/// at a time in a process.
Result<RunRecord> Run(const RunPlan& plan, const SessionOptions& options = {});

/// Searches the layer to blame for the difference between two of the plan's runners, whether or not
/// their outputs differ; `plan.blame` may be empty. Errors as Run().
Result<BlameRecord> Blame(const RunPlan& plan, const SessionOptions& options = {});

/// Measures the plan's runners one at a time, as `vernier profile` does: RunRecord::profile.
/// Outputs are compared with those of the first runner by the plan's rules. Errors as Run(), and
/// kInvalidArgument without a runner.
Result<RunRecord> Profile(const RunPlan& plan, const ProfileOptions& profile = {},
                          const SessionOptions& options = {});

/// Why the run was stopped, if it was, and the tables that end `vernier run`: runners, the worst
/// outputs, what was and was not compared, and advice; or the table that ends `vernier profile`.
std::string FormatSummary(const RunRecord& record);

/// The table of `vernier blame`.
std::string FormatSummary(const BlameRecord& record);

}  // namespace vernier
