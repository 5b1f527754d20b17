// Computes the values of a model's constants, or of its tensors, in a worker with ONNX Runtime; and
// infers shapes, in one with Python.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "backend/worker/shape_inference.h"
#include "run/workers/runner_session.h"
#include "run/workers/worker_pool.h"
#include "surgeon/editable_model.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class ConstantWorker {
 public:
  /// Starts nothing yet. All arguments must outlive it; `library` is ONNX Runtime's, or empty.
  ConstantWorker(const EditableModel& model, const ExecutionPlan& execution,
                 const std::string& library, const std::atomic<int>& interrupted, Logger& log);

  /// The outputs of a model without inputs that is made of parts of the editable one. kUnavailable
  /// where there is no ONNX Runtime, kBackend for what it cannot compute, kCancelled.
  Result<TensorMap> Compute(const OnnxModel& part);

  /// These tensors of the main graph of `model`, which is made of the editable one, for the first
  /// feed of the plan; inputs are among them. A tensor that is not available is missing. Errors of
  /// Compute, and of making the feed.
  Result<TensorMap> Measure(const OnnxModel& model, std::span<const std::string> names,
                            const RunPlan& feeds);

  /// The model with inferred shapes: by the user's onnx; where there is none, by rules of our own.
  Result<OnnxModel> InferShapesOf(const OnnxModel& model, ShapeTool tool);

 private:
  Status Open(const OnnxModel& part, RunnerSession& live);
  Result<TensorMap> RunOnce(const OnnxModel& part);

  const EditableModel& model_;
  const std::atomic<int>& interrupted_;
  Logger& log_;
  RunnerPlan runner_;
  WorkerPool pool_;
  std::shared_ptr<Worker> worker_;
  uint64_t sessions_ = 0;
  bool no_python_ = false;
};

}  // namespace vernier
