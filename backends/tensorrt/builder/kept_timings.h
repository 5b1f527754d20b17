// What TensorRT measured of kernels, where it goes on from build to build.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tensorrt/builder/file_state.h"
#include "tensorrt/library/trt_library.h"

namespace vernier::trt {

struct KeptTimings {
  std::shared_ptr<nvinfer1::ITimingCache> cache;  ///< null before the first build
  /// The files that they were merged with or saved to, as they were then: while one is the same,
  /// they have all that it holds.
  std::map<std::string, std::optional<FileState>> saved;
};

}  // namespace vernier::trt
