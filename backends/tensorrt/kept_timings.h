// What TensorRT measured of kernels, where it goes on from build to build.
#pragma once

#include <memory>
#include <optional>

#include "file_state.h"
#include "trt_library.h"

namespace vernier::trt {

struct KeptTimings {
  std::shared_ptr<nvinfer1::ITimingCache> cache;  ///< null before the first build
  /// The file that they were saved to last: while it is the same, they have all that it holds.
  std::optional<FileState> saved;
};

}  // namespace vernier::trt
