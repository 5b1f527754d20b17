// TensorRT's builder, which takes seconds to make, and what it measured of kernels: kept where many
// builds follow each other.
#pragma once

#include <future>
#include <memory>

#include "tensorrt/builder/kept_timings.h"
#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "tensorrt/library/trt_logger.h"

namespace vernier::trt {

class KeptBuilder {
 public:
  /// All must outlive it.
  KeptBuilder(const Library& library, Logger& logger) : library_(library), logger_(logger) {}

  const Library& library() const { return library_; }

  /// All builds share one builder, whose making begins now, in a thread of its own. It needs memory
  /// of the host and of the device until Drop.
  void Keep(std::shared_ptr<CudaDevice> device) {
    making_ = std::async(std::launch::async, [this, device = std::move(device)] {
      const cuda::CurrentContext current = device->Enter();
      return std::shared_ptr<nvinfer1::IBuilder>(library_.CreateBuilder(logger_));
    });
  }

  /// The builder that is kept, or a new one. Null where TensorRT makes none.
  std::shared_ptr<nvinfer1::IBuilder> Get() {
    if (making_.valid()) kept_ = making_.get();
    return kept_ != nullptr ? kept_ : library_.CreateBuilder(logger_);
  }

  /// The timings of the builds that keep them. They belong to no builder or configuration. What was
  /// serialized need not be readable for TensorRT again: 8.5 could not where cuBLAS was missing.
  KeptTimings& timings() { return timings_; }

  /// In the device's context.
  void Drop() {
    if (making_.valid()) kept_ = making_.get();
    timings_ = {};
    kept_.reset();
  }

 private:
  const Library& library_;
  Logger& logger_;
  std::future<std::shared_ptr<nvinfer1::IBuilder>> making_;
  std::shared_ptr<nvinfer1::IBuilder> kept_;
  KeptTimings timings_;
};

}  // namespace vernier::trt
