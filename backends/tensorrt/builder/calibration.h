// --int8 of a model without scales: TensorRT runs it on feeds of the user's and chooses them.
#pragma once

#include <memory>

#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// What a builder configuration calls while it calibrates; alive until the build is over.
class Calibration {
 public:
  virtual ~Calibration() = default;
  /// Why feeds could not be used, or ok. TensorRT itself does not know.
  virtual Status status() const = 0;

  /// Sets a calibrator of the class that the options name, which reads the file "calibration_feeds"
  /// and reads or writes the cache. kUnavailable where the release has no calibrators,
  /// kInvalidArgument for another class's name or without feeds.
  static Result<std::unique_ptr<Calibration>> Set(nvinfer1::IBuilderConfig& config,
                                                  const nvinfer1::INetworkDefinition& network,
                                                  const CudaDevice& device,
                                                  const sdk::Options& options, Logger& logger);
};

}  // namespace vernier::trt
