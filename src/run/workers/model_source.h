// The model of one runner, ready to be opened: read and, where outputs are marked, edited, before
// any framework sees it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/wire/messages.h"
#include "backend/worker/worker.h"
#include "model/onnx/byte_pieces.h"
#include "model/onnx/onnx_model.h"
#include "util/files/scratch_folder.h"
#include "util/files/unique_fd.h"
#include "util/log/log.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Starts, or finds, a Python worker; asked only where shapes are inferred.
using PythonWorker = std::function<Result<std::shared_ptr<Worker>>()>;

class ModelSource {
 public:
  /// Reads an ONNX model, checks its external data, infers shapes, selects and marks outputs,
  /// converts to float16, and saves the result where the plan says so. Other model types pass
  /// through unread. kMalformed, kNotFound and kIo as the parts of it.
  /// `python` is where shapes are inferred; without it a plan that wants that is kUnimplemented.
  static Result<std::shared_ptr<const ModelSource>> Prepare(const ModelPlan& plan, Logger& logger,
                                                            const PythonWorker& python = {});

  /// The same without a runner: saves the model to plan.save_path. kInvalidArgument for a model
  /// that is not ONNX.
  static Status Save(const ModelPlan& plan, Logger& logger, const PythonWorker& python = {});

  /// A model that was put together from parts of the plan's; its weights may lie where that one has
  /// them. kIo when the system has no memory for it.
  static Result<std::shared_ptr<const ModelSource>> Assemble(const ModelPlan& plan,
                                                             const BytePieces& model,
                                                             std::vector<TensorInfo> inputs,
                                                             std::vector<std::string> outputs);

  const OpenRequest& request() const { return request_; }

  /// The edited model; not valid when the file itself is to be opened.
  const UniqueFd& edited_bytes() const { return edited_; }

  /// The floating types of the weights, for runtimes that compute as the model says.
  const std::string& precision() const { return precision_; }

  /// As FindRandomOperator() has it of an ONNX model; empty: none.
  const std::string& random_operator() const { return random_operator_; }

  /// What the file declares as outputs, marked ones not included; empty for other types.
  const std::vector<TensorInfo>& declared_outputs() const { return declared_outputs_; }

 private:
  struct Edit;
  Status PrepareOnnx(const ModelPlan& plan, const PythonWorker& python, Logger& logger);
  Status Describe(const ModelPlan& plan, const PythonWorker& python, const OnnxModel& file,
                  Logger& logger);
  Status InferShapesOf(const ModelPlan& plan, const PythonWorker& python, Edit& edit,
                       Logger& logger);
  Status MarkOutputs(const ModelPlan& plan, Edit& edit, Logger& logger);
  Status MakeFloat16(const ModelPlan& plan, Edit& edit, Logger& logger);
  static Status SaveEdited(const ModelPlan& plan, const Edit& edit, Logger& logger);
  static void ReportLosses(const Edit& edit, Logger& logger);
  Status HandOver(const ModelPlan& plan, Edit& edit);
  Status HandOverAsFiles(const Edit& edit);

  bool for_runner_ = true;
  OpenRequest request_;
  UniqueFd edited_;
  std::string precision_;
  std::string random_operator_;
  std::optional<ScratchFolder> files_;  // of a model that is too large for memory
  std::vector<TensorInfo> declared_outputs_;
};

}  // namespace vernier
