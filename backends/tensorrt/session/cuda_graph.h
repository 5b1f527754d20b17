// The kernels of one inference, recorded once and launched together afterwards.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tensorrt/library/cuda_device.h"

namespace vernier::trt {

class CudaGraph {
 public:
  virtual ~CudaGraph() = default;

  /// kUnavailable where the driver has no graphs.
  static Result<std::unique_ptr<CudaGraph>> Make(const CudaDevice& device);

  /// Records what `enqueue` puts on the stream, instead of running it. `key` names the addresses
  /// and shapes that it is recorded with. kBackend where the work cannot be recorded.
  virtual Status Record(const std::string& key, cuda::Stream stream,
                        const std::function<bool()>& enqueue) = 0;

  /// Is there a recording with this key?
  virtual bool Has(const std::string& key) const = 0;

  virtual Status Launch(cuda::Stream stream) = 0;
};

}  // namespace vernier::trt
