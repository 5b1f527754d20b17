#include "cuda_driver.h"

#include <dlfcn.h>

#include <array>

namespace vernier::trt {
namespace {

constexpr int kFirstDevice = 0;
constexpr unsigned kNonBlockingStream = 1;

}  // namespace

Result<std::shared_ptr<CudaDriver>> CudaDriver::Load() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Unavailable("there is no NVIDIA driver on this machine (libcuda.so.1 was not found); "
                       "TensorRT needs an NVIDIA GPU");
  }
  std::shared_ptr<CudaDriver> driver(new CudaDriver);
  VERNIER_TRY(driver->LoadSymbols(library));
  VERNIER_TRY(driver->OpenDevice());
  return driver;
}

Status CudaDriver::LoadSymbols(void* library) {
  Status status;
  const auto load = [&](const char* name, auto& function) {
    void* symbol = ::dlsym(library, name);
    if (symbol == nullptr) {
      status = Unavailable(std::string("the NVIDIA driver is too old: it has no ") + name);
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  load("cuInit", init_);
  load("cuGetErrorString", error_string_);
  load("cuDeviceGetCount", device_count_);
  load("cuDeviceGetName", device_name_of_);
  load("cuDevicePrimaryCtxRetain", retain_context_);
  load("cuDevicePrimaryCtxRelease_v2", release_context_);
  load("cuCtxSetCurrent", set_context_);
  load("cuMemAlloc_v2", allocate_);
  load("cuMemFree_v2", free_);
  load("cuMemHostAlloc", allocate_host_);
  load("cuMemFreeHost", free_host_);
  load("cuStreamCreate", create_stream_);
  load("cuStreamDestroy_v2", destroy_stream_);
  load("cuMemcpyHtoDAsync_v2", to_device_);
  load("cuMemcpyDtoHAsync_v2", to_host_);
  load("cuStreamSynchronize", synchronize_);
  return status;
}

Status CudaDriver::OpenDevice() {
  int count = 0;
  if (Status started = Check(init_(0), "starting the NVIDIA driver"); !started.ok()) {
    return Unavailable(started.message());
  }
  if (Status counted = Check(device_count_(&count), "counting GPUs"); !counted.ok() || count == 0) {
    return Unavailable("there is no GPU that the NVIDIA driver lets this process use");
  }
  std::array<char, 256> name{};
  VERNIER_TRY(Check(device_name_of_(name.data(), static_cast<int>(name.size()), kFirstDevice),
                    "asking for the GPU's name"));
  device_name_ = name.data();
  VERNIER_TRY(Check(retain_context_(&context_, kFirstDevice), "opening the GPU"));
  return MakeCurrent();
}

CudaDriver::~CudaDriver() {
  if (context_ != nullptr) (void)release_context_(kFirstDevice);
}

Status CudaDriver::Check(Result32 result, const std::string& doing) const {
  if (result == 0) return {};
  const char* text = nullptr;
  if (error_string_(result, &text) != 0 || text == nullptr) text = "an error without a name";
  return BackendError("CUDA failed while " + doing + ": " + text + " (CUresult " +
                      std::to_string(result) + ")");
}

Status CudaDriver::MakeCurrent() const { return Check(set_context_(context_), "choosing the GPU"); }

Result<DevicePointer> CudaDriver::Allocate(size_t bytes) const {
  DevicePointer memory = 0;
  // A tensor without elements still wants an address.
  VERNIER_TRY(Check(allocate_(&memory, bytes == 0 ? 1 : bytes),
                    "allocating " + std::to_string(bytes) + " bytes of GPU memory"));
  return memory;
}

void CudaDriver::Free(DevicePointer memory) const {
  if (memory != 0) (void)free_(memory);
}

Result<std::shared_ptr<std::byte>> CudaDriver::AllocatePinned(size_t bytes) const {
  void* memory = nullptr;
  VERNIER_TRY(Check(allocate_host_(&memory, bytes == 0 ? 1 : bytes, 0),
                    "allocating " + std::to_string(bytes) + " bytes of page-locked memory"));
  const auto free_host = free_host_;
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                    [free_host](std::byte* p) { (void)free_host(p); });
}

Result<CudaStream> CudaDriver::CreateStream() const {
  CudaStream stream = nullptr;
  VERNIER_TRY(Check(create_stream_(&stream, kNonBlockingStream), "making a stream"));
  return stream;
}

void CudaDriver::DestroyStream(CudaStream stream) const { (void)destroy_stream_(stream); }

Status CudaDriver::CopyToDevice(DevicePointer to, const void* from, size_t bytes,
                                CudaStream stream) const {
  if (bytes == 0) return {};
  return Check(to_device_(to, from, bytes, stream), "copying an input to the GPU");
}

Status CudaDriver::CopyToHost(void* to, DevicePointer from, size_t bytes, CudaStream stream) const {
  if (bytes == 0) return {};
  return Check(to_host_(to, from, bytes, stream), "copying an output from the GPU");
}

Status CudaDriver::Synchronize(CudaStream stream) const {
  return Check(synchronize_(stream), "waiting for the GPU");
}

}  // namespace vernier::trt
