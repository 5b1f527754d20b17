// Models that are converted before a runner opens them: TensorFlow's formats for runners that read
// ONNX, by tf2onnx in the user's Python.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "run/workers/worker_pool.h"
#include "util/files/scratch_folder.h"
#include "util/log/log.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The key of RunnerPlan::session_options that asks for it: "onnx" or "frozen". "opset", "ckpt",
/// "signature" and "tf_outputs", or a TensorFlow runner's "outputs", say more.
inline constexpr std::string_view kConvertOption = "convert";

class ModelConversions {
 public:
  ModelConversions(WorkerPool& pool, Logger& logger) : pool_(pool), logger_(logger) {}

  /// The model that the runner is to open: its own, or the converted one in a temporary file that
  /// lives as long as this object. Runners that ask for the same share it. Errors are those of the
  /// Python worker: kUnavailable with how to install what is missing, kBackend.
  Result<ModelPlan> ModelOf(const RunnerPlan& runner);

 private:
  Result<std::string> Convert(const RunnerPlan& runner, const std::string& target);

  WorkerPool& pool_;
  Logger& logger_;
  std::optional<ScratchFolder> folder_;
  std::map<std::string, std::string> converted_;
};

}  // namespace vernier
