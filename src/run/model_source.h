// The model of one runner, ready to be opened: read and, where outputs are marked, edited, before
// any framework sees it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/messages.h"
#include "model/onnx_model.h"
#include "model/wire_patch.h"
#include "util/log.h"
#include "util/unique_fd.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

class ModelSource {
 public:
  /// Reads an ONNX model, checks its external data, selects and marks outputs, and saves the
  /// result where the plan says so. Other model types pass through unread. kMalformed, kNotFound
  /// and kIo as the parts of it.
  static Result<std::shared_ptr<const ModelSource>> Prepare(const ModelPlan& plan, Logger& logger);

  /// The same without a runner: saves the model to plan.save_path. kInvalidArgument for a model
  /// that is not ONNX.
  static Status Save(const ModelPlan& plan, Logger& logger);

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

 private:
  Status PrepareOnnx(const ModelPlan& plan, Logger& logger);
  Status Describe(const ModelPlan& plan, const OnnxModel& model, Logger& logger);
  Result<std::vector<WirePatch>> MarkOutputs(const ModelPlan& plan, const OnnxModel& model,
                                             Logger& logger);
  Status HandOver(const OnnxModel& model, std::vector<WirePatch> patches);

  bool for_runner_ = true;
  OpenRequest request_;
  UniqueFd edited_;
  std::string precision_;
};

}  // namespace vernier
