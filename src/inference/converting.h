// One model to another file: an ONNX model in another form, or an engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "run/workers/runner_session.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What a model can become.
enum class ConversionTarget : uint8_t {
  kOnnx,
  kEngine,
  kOnnxLike,  ///< the network that TensorRT's parser makes, for viewers of ONNX files
};

struct ConversionPlan {
  std::optional<ConversionTarget> target;  ///< none: by the name of `output`
  /// Its model, with what is changed in it, and the options of its format if that is TensorFlow's:
  /// it becomes ONNX first.
  RunnerPlan source;
  std::string output;
  /// The one runner that builds an engine and saves it. It gets the model of `source`.
  std::optional<RunPlan> build;
  ExecutionPlan execution;  ///< of the workers that convert
};

/// Writes the file. kUnavailable, with how to install it, without what converts TensorFlow's
/// models; kMalformed for a model that cannot be read; kIo; errors of TensorRT; kCancelled. While
/// an engine is built, `waiting` is called (RunnerSession::Waiting).
Status ConvertModel(const ConversionPlan& plan, const std::atomic<int>& interrupted, Logger& log,
                    const RunnerSession::Waiting& waiting = nullptr);

}  // namespace vernier
