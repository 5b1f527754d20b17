// The options of a build, translated to IBuilderConfig in Polygraphy's order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensorrt/builder/calibration.h"
#include "tensorrt/builder/kept_timings.h"
#include "tensorrt/builder/tactic_replay.h"
#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// What is to be built, and by whom.
struct Unbuilt {
  nvinfer1::IBuilder& builder;
  nvinfer1::INetworkDefinition& network;
  /// Timings that go on from build to build instead of those of --load-timing-cache, once there are
  /// any. nullptr: they are not kept.
  KeptTimings* timings = nullptr;
  /// The file of timings that builds share, as SharedTimings() has it.
  std::string shared_timings = {};
};

/// Everything that TensorRT needs for one build.
struct BuildConfig {
  // Before what refers to them.
  std::unique_ptr<Calibration> calibration;
  std::unique_ptr<TacticReplay> tactics;
  std::shared_ptr<nvinfer1::ITimingCache> timing_cache;
  KeptTimings* kept_timings = nullptr;  ///< where those are kept; nullptr: nowhere
  std::string shared_timings;           ///< the file that builds share; empty: none
  Owned<nvinfer1::IBuilderConfig> config;
};

/// kInvalidArgument for words that TensorRT does not know, kUnavailable for options that this
/// release does not have, each naming the option.
Result<BuildConfig> MakeConfig(const Unbuilt& unbuilt, const CudaDevice& device,
                               const sdk::Options& options, Logger& logger);

}  // namespace vernier::trt
