// The few functions of the CUDA driver that running an engine needs, opened at run time. The
// driver's own interface rather than the CUDA runtime: it comes with every GPU driver, and a second
// copy of the runtime would clash with a framework's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "vernier/status.h"

struct CUstream_st;  // the driver's and the runtime's name for the same thing

namespace vernier::trt {

using CudaStream = ::CUstream_st*;
using DevicePointer = unsigned long long;

class CudaDriver {
 public:
  /// Opens libcuda.so.1 and makes the first device's primary context current. kUnavailable says in
  /// one sentence what is missing: the driver, a device, or a new enough driver.
  static Result<std::shared_ptr<CudaDriver>> Load();
  ~CudaDriver();
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  const std::string& device_name() const { return device_name_; }

  /// The calling thread uses this context from now on.
  Status MakeCurrent() const;

  /// kBackend names the size when the device has no such memory left.
  Result<DevicePointer> Allocate(size_t bytes) const;
  void Free(DevicePointer memory) const;

  /// Page-locked host memory, for copies at the full speed of the bus. Freed with its last owner.
  Result<std::shared_ptr<std::byte>> AllocatePinned(size_t bytes) const;

  Result<CudaStream> CreateStream() const;
  void DestroyStream(CudaStream stream) const;

  /// Ordered on the stream; the host memory must stay until Synchronize.
  Status CopyToDevice(DevicePointer to, const void* from, size_t bytes, CudaStream stream) const;
  Status CopyToHost(void* to, DevicePointer from, size_t bytes, CudaStream stream) const;
  Status Synchronize(CudaStream stream) const;

 private:
  using Result32 = int;  // CUresult
  CudaDriver() = default;
  Status LoadSymbols(void* library);
  Status OpenDevice();
  Status Check(Result32 result, const std::string& doing) const;

  Result32 (*init_)(unsigned) = nullptr;
  Result32 (*error_string_)(Result32, const char**) = nullptr;
  Result32 (*device_count_)(int*) = nullptr;
  Result32 (*device_name_of_)(char*, int, int) = nullptr;
  Result32 (*retain_context_)(void**, int) = nullptr;
  Result32 (*release_context_)(int) = nullptr;
  Result32 (*set_context_)(void*) = nullptr;
  Result32 (*allocate_)(DevicePointer*, size_t) = nullptr;
  Result32 (*free_)(DevicePointer) = nullptr;
  Result32 (*allocate_host_)(void**, size_t, unsigned) = nullptr;
  Result32 (*free_host_)(void*) = nullptr;
  Result32 (*create_stream_)(CudaStream*, unsigned) = nullptr;
  Result32 (*destroy_stream_)(CudaStream) = nullptr;
  Result32 (*to_device_)(DevicePointer, const void*, size_t, CudaStream) = nullptr;
  Result32 (*to_host_)(void*, DevicePointer, size_t, CudaStream) = nullptr;
  Result32 (*synchronize_)(CudaStream) = nullptr;

  void* context_ = nullptr;
  std::string device_name_;
};

}  // namespace vernier::trt
