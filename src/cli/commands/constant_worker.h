// Computes what a model's constants come to, in a worker with ONNX Runtime; and infers shapes, in
// one with Python.
#pragma once

#include <memory>
#include <string>

#include "backend/shape_inference.h"
#include "run/worker_pool.h"
#include "surgeon/editable_model.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class ConstantWorker {
 public:
  /// Starts nothing yet. All arguments must outlive it; `library` is ONNX Runtime's, or empty.
  ConstantWorker(const EditableModel& model, const ExecutionPlan& execution,
                 const std::string& library, Logger& log);

  /// The outputs of a model without inputs that is made of parts of the editable one. kUnavailable
  /// where there is no ONNX Runtime, kBackend for what it cannot compute, kCancelled.
  Result<TensorMap> Compute(const OnnxModel& part);

  /// The model with inferred shapes: by the user's onnx; where there is none, by rules of our own.
  Result<OnnxModel> InferShapesOf(const OnnxModel& model, ShapeTool tool);

 private:
  Result<TensorMap> RunOnce(const OnnxModel& part);

  const EditableModel& model_;
  Logger& log_;
  RunnerPlan runner_;
  WorkerPool pool_;
  std::shared_ptr<Worker> worker_;
  uint64_t sessions_ = 0;
  bool no_python_ = false;
};

}  // namespace vernier
