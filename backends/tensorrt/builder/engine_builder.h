// From an ONNX model to a serialized engine.
#pragma once

#include <string>
#include <vector>

#include "tensorrt/builder/config_text.h"
#include "tensorrt/builder/kept_builder.h"
#include "tensorrt/builder/network_edits.h"
#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

struct BuiltEngine {
  Owned<nvinfer1::IHostMemory> plan;
  ConfigRows config;                  ///< as it was really set
  std::vector<AskedPrecision> asked;  ///< layers whose precision was asked for by name
  /// Marked outputs without which alone the build succeeded, with TensorRT's reason.
  std::vector<sdk::NotExposed> not_exposed;
};

/// Also saves the timing cache. kMalformed when the parser refuses the model, naming node and
/// reason; kBackend when the build fails. Where marked outputs make it fail, it is tried again
/// without some of them, by halves.
Result<BuiltEngine> BuildEngine(KeptBuilder& builder, const CudaDevice& device,
                                const vn_model& model, const sdk::Options& options, Logger& logger);

}  // namespace vernier::trt
