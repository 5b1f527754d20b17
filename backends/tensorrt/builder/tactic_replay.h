// --save-tactics and --load-tactics: which implementation TensorRT chose for each layer, in the
// Polygraphy's JSON, and a build that has to choose the same.
#pragma once

#include <memory>

#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// What a builder configuration asks while it chooses; alive until the build is over.
class TacticReplay {
 public:
  virtual ~TacticReplay() = default;

  /// After the build: writes what was chosen. Or, where recorded tactics were to be chosen, why one
  /// could not be: kBackend names the layer.
  virtual Status Finish() = 0;

  /// Null without either option. kUnavailable where the release cannot be made to choose,
  /// kMalformed for a file that is no record of tactics.
  static Result<std::unique_ptr<TacticReplay>> Set(nvinfer1::IBuilderConfig& config,
                                                   const sdk::Options& options, Logger& logger);
};

}  // namespace vernier::trt
