// TensorRT's builder, which takes seconds to make, and what it measured of kernels: kept where many
// builds follow each other.
#pragma once

#include <memory>

#include "trt_library.h"
#include "trt_logger.h"

namespace vernier::trt {

class KeptBuilder {
 public:
  /// All must outlive it.
  KeptBuilder(const Library& library, Logger& logger) : library_(library), logger_(logger) {}

  const Library& library() const { return library_; }

  /// A builder; with `keep` the one of the last build that kept it too. It needs memory of the host
  /// and of the device as long as it is kept. Null where TensorRT makes none.
  std::shared_ptr<nvinfer1::IBuilder> Get(bool keep) {
    if (kept_ != nullptr) return kept_;
    std::shared_ptr<nvinfer1::IBuilder> builder = library_.CreateBuilder(logger_);
    if (keep) kept_ = builder;
    return builder;
  }

  /// The timings of the builds that keep them; null before the first. They belong to no builder or
  /// configuration. What was serialized need not be readable for TensorRT again: 8.5 could not
  /// where cuBLAS was missing.
  std::shared_ptr<nvinfer1::ITimingCache>& timings() { return timings_; }

  /// In the device's context.
  void Drop() {
    timings_.reset();
    kept_.reset();
  }

 private:
  const Library& library_;
  Logger& logger_;
  std::shared_ptr<nvinfer1::IBuilder> kept_;
  std::shared_ptr<nvinfer1::ITimingCache> timings_;
};

}  // namespace vernier::trt
