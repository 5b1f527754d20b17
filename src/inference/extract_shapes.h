// Shapes and types of the tensors that a part of a model begins and ends with.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "model/edit/onnx_extract.h"
#include "model/onnx/onnx_model.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The part that is asked for.
struct PartRequest {
  std::optional<std::vector<TensorInfo>> inputs = {};   ///< not given: those of the model
  std::optional<std::vector<TensorInfo>> outputs = {};  ///< the same
  std::vector<std::string> shape_words = {};            ///< of the model's inputs, as "NAME:SHAPE"
  bool forced = false;  ///< nothing but sizes of one feed, also where the model declares others
};

/// How unknown shapes and types are found.
struct ExtractCompletion {
  const std::atomic<int>& interrupted;
  const PartRequest& part;
  ModelPlan model = {};  ///< whose shapes onnx infers
  ExecutionPlan execution = {};
  /// One inference of ONNX Runtime; requested if nothing else suffices.
  std::function<Result<RunPlan>()> inference = {};
};

/// Fills in what the plan leaves open and the model does not declare: first from the operators and
/// `shape_words`, then from onnx where Python has it, then from one inference. What cannot be found
/// is reported and stays unknown. kNotFound for a shape of an input that the model lacks; errors of
/// the inference's plan.
Status CompleteExtract(const ExtractCompletion& completion, const OnnxModel& model,
                       ExtractPlan& plan, Logger& log);

}  // namespace vernier
