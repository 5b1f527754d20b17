// A sign of life while TensorRT builds, which can take minutes without a word.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tensorrt/library/trt_library.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// As long as it lives, a log line every ten seconds says how long the build has taken, and where
/// the release has a progress monitor (10 and newer) what it is doing. A run that is interrupted
/// ends the build there.
class BuildProgress {
 public:
  BuildProgress(nvinfer1::IBuilderConfig& config, const sdk::Host& host);
  ~BuildProgress();
  BuildProgress(const BuildProgress&) = delete;
  BuildProgress& operator=(const BuildProgress&) = delete;

 private:
  class Monitor;
  void Report();

  const sdk::Host& host_;
  std::unique_ptr<Monitor> monitor_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace vernier::trt
