// Tensors inside of an engine that TensorRT hands out while it runs, without making them outputs:
// since TensorRT 10.
#pragma once

#include <memory>
#include <vector>

#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// --mark-unfused-tensors-as-debug-tensors, before the network is parsed. kUnavailable where the
/// release has none.
Status MarkUnfusedTensors(nvinfer1::INetworkDefinition& network, const sdk::Options& options);

/// Receives debug tensors during inferences.
class DebugTensors {
 public:
  virtual ~DebugTensors() = default;

  /// Null where the engine cannot have debug tensors. Stays before `context` in destruction order.
  static std::unique_ptr<DebugTensors> Listen(nvinfer1::IExecutionContext& context,
                                              const CudaDevice& device, Logger& logger);

  /// What arrived since the last call, each name once. An error of a copy is returned here.
  virtual Result<std::vector<sdk::OutputTensor>> Take() = 0;
};

}  // namespace vernier::trt
