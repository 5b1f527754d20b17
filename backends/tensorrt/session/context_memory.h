// What an execution context works in: its activations, and weights that are streamed.
#pragma once

#include <memory>

#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// --weight-streaming-budget. kUnavailable where the release has none, kBackend where TensorRT
/// takes another budget than asked for.
Status SetWeightBudget(nvinfer1::ICudaEngine& engine, const sdk::Options& options, Logger& logger);

/// --allocation-strategy: TensorRT's own memory for the worst case, or ours, for the profile or for
/// the shapes of each inference.
class ContextMemory {
 public:
  explicit ContextMemory(const CudaDevice& device) : device_(device) {}

  Result<Owned<nvinfer1::IExecutionContext>> MakeContext(nvinfer1::ICudaEngine& engine,
                                                         const sdk::Options& options,
                                                         Logger& logger);

  /// Is it TensorRT's own, so that there is nothing to prepare?
  bool is_static() const { return strategy_ == Strategy::kStatic; }

  /// When the shapes of all inputs are set and nothing runs.
  Status Prepare(nvinfer1::ICudaEngine& engine, nvinfer1::IExecutionContext& context);

 private:
  enum class Strategy : uint8_t { kStatic, kProfile, kRuntime };
  const CudaDevice& device_;
  Strategy strategy_ = Strategy::kStatic;
  std::shared_ptr<cuda::DeviceMemory> memory_;
};

}  // namespace vernier::trt
