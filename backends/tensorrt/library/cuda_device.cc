#include "tensorrt/library/cuda_device.h"

namespace vernier::trt {

Result<std::shared_ptr<CudaDevice>> CudaDevice::Open() {
  const Result<cuda::Driver> driver = cuda::Driver::Load();
  if (!driver.ok()) {
    return Unavailable("TensorRT needs an NVIDIA GPU and its driver: " + driver.status().message());
  }
  VERNIER_ASSIGN_OR_RETURN(cuda::PrimaryContext context, cuda::PrimaryContext::Retain(*driver, 0));
  return std::shared_ptr<CudaDevice>(new CudaDevice(std::move(context)));
}

Result<std::shared_ptr<cuda::DeviceMemory>> CudaDevice::Allocate(size_t bytes) const {
  // A tensor without elements still wants an address.
  return cuda::DeviceMemory::Allocate(context_, bytes == 0 ? 1 : bytes);
}

Result<std::shared_ptr<std::byte>> CudaDevice::AllocatePinned(size_t bytes) const {
  void* memory = nullptr;
  const cuda::CurrentContext current = Enter();
  VERNIER_TRY(current.status());
  VERNIER_TRY(
      driver().Check(driver().MemAllocHost(&memory, bytes == 0 ? 1 : bytes),
                     "allocating " + std::to_string(bytes) + " bytes of page-locked memory"));
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                    [context = context_](std::byte* p) {
                                      const cuda::CurrentContext inner(*context);
                                      (void)context->driver().MemFreeHost(p);
                                    });
}

Result<cuda::Stream> CudaDevice::CreateStream() const {
  cuda::Stream stream = nullptr;
  const cuda::CurrentContext current = Enter();
  VERNIER_TRY(current.status());
  VERNIER_TRY(
      driver().Check(driver().StreamCreate(&stream, cuda::kStreamNonBlocking), "making a stream"));
  return stream;
}

void CudaDevice::DestroyStream(cuda::Stream stream) const {
  const cuda::CurrentContext current = Enter();
  (void)driver().StreamSynchronize(stream);
  (void)driver().StreamDestroy(stream);
}

Status CudaDevice::CopyToDevice(cuda::DevicePointer to, const void* from, size_t bytes,
                                cuda::Stream stream) const {
  return copies_->ToDevice(to, from, bytes, stream);
}

Status CudaDevice::CopyToHost(void* to, cuda::DevicePointer from, size_t bytes,
                              cuda::Stream stream) const {
  if (bytes == 0) return {};
  return driver().Check(driver().MemcpyDtoHAsync(to, from, bytes, stream),
                        "copying an output from the GPU");
}

Status CudaDevice::Synchronize(cuda::Stream stream) const {
  return driver().Check(driver().StreamSynchronize(stream), "waiting for the GPU");
}

Result<cuda::Event> CudaDevice::CreateEvent(cuda::EventFlags flags) const {
  cuda::Event event = nullptr;
  const cuda::CurrentContext current = Enter();
  VERNIER_TRY(current.status());
  VERNIER_TRY(driver().Check(driver().EventCreate(&event, flags), "making an event"));
  return event;
}

void CudaDevice::DestroyEvent(cuda::Event event) const {
  const cuda::CurrentContext current = Enter();
  (void)driver().EventDestroy(event);
}

Status CudaDevice::Record(cuda::Event event, cuda::Stream stream) const {
  return driver().Check(driver().EventRecord(event, stream), "marking a place on a stream");
}

Status CudaDevice::WaitOnDevice(cuda::Stream stream, cuda::Event event) const {
  return driver().Check(driver().StreamWaitEvent(stream, event, 0), "waiting for a copy");
}

bool CudaDevice::HasPassed(cuda::Event event) const {
  return driver().EventQuery(event) != cuda::kNotReady;
}

Status CudaDevice::Await(cuda::Event event) const {
  return driver().Check(driver().EventSynchronize(event), "waiting for the GPU");
}

Result<double> CudaDevice::SecondsBetween(cuda::Event from, cuda::Event to) const {
  float milliseconds = 0;
  VERNIER_TRY(driver().Check(driver().EventElapsedTime(&milliseconds, from, to),
                             "reading the GPU's clock"));
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace vernier::trt
