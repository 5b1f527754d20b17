// The GPU that engines run on: memory, a stream, copies. Through the driver's own interface, in the
// primary context that every CUDA runtime of the process shares.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "vernier/backend_cuda.hpp"
#include "vernier/backend_cuda_staging.hpp"
#include "vernier/status.h"

namespace vernier::trt {

class CudaDevice {
 public:
  /// The first device. kUnavailable says in one sentence what is missing: the driver, a device, or
  /// a new enough driver.
  static Result<std::shared_ptr<CudaDevice>> Open();

  const std::string& name() const { return name_; }
  int ordinal() const { return context_->ordinal(); }

  /// Makes the context this thread's for the scope of what is returned.
  cuda::CurrentContext Enter() const { return cuda::CurrentContext(*context_); }

  /// Never null, also where `bytes` is 0. kBackend names the size when there is no such memory
  /// left.
  Result<std::shared_ptr<cuda::DeviceMemory>> Allocate(size_t bytes) const;

  /// Page-locked host memory, for copies at the full speed of the bus. Freed with its last owner.
  Result<std::shared_ptr<std::byte>> AllocatePinned(size_t bytes) const;

  Result<cuda::Stream> CreateStream() const;
  void DestroyStream(cuda::Stream stream) const;

  /// Ordered on the stream; the host memory must stay until Synchronize.
  Status CopyToDevice(cuda::DevicePointer to, const void* from, size_t bytes,
                      cuda::Stream stream) const;
  Status CopyToHost(void* to, cuda::DevicePointer from, size_t bytes, cuda::Stream stream) const;
  Status Synchronize(cuda::Stream stream) const;

  /// An event that marks a place on a stream; what is on another stream afterwards waits for it.
  Result<cuda::Event> CreateEvent(cuda::EventFlags flags = cuda::kEventDisableTiming) const;
  void DestroyEvent(cuda::Event event) const;
  Status Record(cuda::Event event, cuda::Stream stream) const;
  Status WaitOnDevice(cuda::Stream stream, cuda::Event event) const;
  /// Has the stream come past it? Also true where CUDA has failed, which Await reports.
  bool HasPassed(cuda::Event event) const;
  Status Await(cuda::Event event) const;
  /// Between two events of kEventDefault that have passed, by the device's clock.
  Result<double> SecondsBetween(cuda::Event from, cuda::Event to) const;

  /// Success, or kBackend with what was being done and the driver's reason.
  Status Check(cuda::Code code, std::string_view doing) const {
    return driver().Check(code, doing);
  }

 private:
  explicit CudaDevice(cuda::PrimaryContext context)
      : context_(std::make_shared<const cuda::PrimaryContext>(std::move(context))),
        name_(context_->name()),
        copies_(std::make_unique<cuda::StagedCopies>(context_)) {}
  const cuda::Driver& driver() const { return context_->driver(); }

  std::shared_ptr<const cuda::PrimaryContext> context_;
  std::string name_;
  std::unique_ptr<cuda::StagedCopies> copies_;
};

}  // namespace vernier::trt
