// NVIDIA's driver, opened at run time: building needs no CUDA header, and nothing is linked. For
// the program's GPU kernels and for plug-ins whose outputs are on a CUDA device. Header-only.
//
// Only the primary context of a device is used. Every CUDA runtime in the process shares it, so
// pointers of a framework are valid here, and the other way round.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "vernier/status.h"

// The types behind the driver's handles, with the names of CUDA's own headers.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;

namespace vernier::cuda {

// The driver's types, as in its binary interface.
using Code = int;  ///< CUresult
using DeviceNumber = int;
using DevicePointer = uint64_t;
using Context = ::CUctx_st*;
using Module = ::CUmod_st*;
using Function = ::CUfunc_st*;
using Stream = ::CUstream_st*;
using Event = ::CUevent_st*;

inline constexpr char kDriverLibrary[] = "libcuda.so.1";

/// The values of CUdevice_attribute, CUjit_option and flags that vernier uses.
enum Attribute : int {
  kMultiprocessors = 16,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedBytesOptIn = 97,
};
enum FunctionAttribute : int { kMaxDynamicSharedBytes = 8 };
enum JitOption : int { kJitErrorLog = 5, kJitErrorLogBytes = 6 };
enum StreamFlags : unsigned { kStreamNonBlocking = 1 };
enum EventFlags : unsigned { kEventDefault = 0, kEventDisableTiming = 2 };
/// EventQuery returns this while the stream has not reached the event.
inline constexpr Code kNotReady = 600;

/// The driver's functions, named without their prefix `cu`. They return 0 for success and may be
/// called from any thread; those on streams and memory need a CurrentContext on that thread.
/// Copies refer to the same library, which stays open for the life of the process.
struct Driver {
  Code (*Init)(unsigned flags);
  Code (*GetErrorName)(Code, const char** out);
  Code (*GetErrorString)(Code, const char** out);
  Code (*DriverGetVersion)(int* out);
  Code (*DeviceGetCount)(int* out);
  Code (*DeviceGet)(DeviceNumber* out, int ordinal);
  Code (*DeviceGetName)(char* out, int size, DeviceNumber);
  Code (*DeviceGetAttribute)(int* out, int attribute, DeviceNumber);
  Code (*DevicePrimaryCtxRetain)(Context* out, DeviceNumber);
  Code (*DevicePrimaryCtxRelease)(DeviceNumber);
  Code (*CtxPushCurrent)(Context);
  Code (*CtxPopCurrent)(Context* out);
  Code (*MemAlloc)(DevicePointer* out, size_t bytes);
  Code (*MemFree)(DevicePointer);
  Code (*MemAllocHost)(void** out, size_t bytes);
  Code (*MemFreeHost)(void*);
  Code (*MemHostRegister)(void* memory, size_t bytes, unsigned flags);
  Code (*MemHostUnregister)(void*);
  Code (*MemcpyHtoD)(DevicePointer to, const void* from, size_t bytes);
  Code (*MemcpyDtoH)(void* to, DevicePointer from, size_t bytes);
  Code (*MemcpyDtoHAsync)(void* to, DevicePointer from, size_t bytes, Stream);
  Code (*MemcpyHtoDAsync)(DevicePointer to, const void* from, size_t bytes, Stream);
  Code (*MemcpyDtoDAsync)(DevicePointer to, DevicePointer from, size_t bytes, Stream);
  Code (*MemsetD8Async)(DevicePointer, unsigned char value, size_t bytes, Stream);
  Code (*StreamCreate)(Stream* out, unsigned flags);
  Code (*StreamDestroy)(Stream);
  Code (*StreamSynchronize)(Stream);
  Code (*StreamWaitEvent)(Stream, Event, unsigned flags);
  Code (*EventCreate)(Event* out, unsigned flags);
  Code (*EventDestroy)(Event);
  Code (*EventRecord)(Event, Stream);
  Code (*EventQuery)(Event);
  Code (*EventSynchronize)(Event);
  Code (*EventElapsedTime)(float* milliseconds, Event start, Event end);
  Code (*ModuleLoadDataEx)(Module* out, const void* image, unsigned options, int* names,
                           void** values);
  Code (*ModuleUnload)(Module);
  Code (*ModuleGetFunction)(Function* out, Module, const char* name);
  Code (*FuncSetAttribute)(Function, int attribute, int value);
  Code (*LaunchKernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       Stream, void** arguments, void** extra);

  /// Opens `library` and initialises the driver. kUnavailable, with the reason, if the library or
  /// one of its functions is missing, or if the driver sees no device.
  static Result<Driver> Load(const char* library = kDriverLibrary);

  /// Success, or kBackend: "CUDA: <doing>: out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  Status Check(Code code, std::string_view doing) const;

  /// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  std::string Describe(Code code) const;
};

namespace internal {

struct SymbolRow {
  const char* name;
  void* slot;  ///< a pointer to a function pointer of any type
};

}  // namespace internal

inline std::string Driver::Describe(Code code) const {
  const char* text = nullptr;
  const char* name = nullptr;
  if (GetErrorString(code, &text) != 0 || text == nullptr) text = "unknown error";
  if (GetErrorName(code, &name) != 0 || name == nullptr) return text + (" " + std::to_string(code));
  return std::string(text) + " (" + name + ")";
}

inline Status Driver::Check(Code code, std::string_view doing) const {
  if (code == 0) return {};
  return BackendError("CUDA: " + std::string(doing) + ": " + Describe(code));
}

inline Result<Driver> Driver::Load(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Unavailable(std::string("there is no CUDA here: NVIDIA's driver library cannot be "
                                   "opened (") +
                       ::dlerror() + ")");
  }
  Driver driver{};
  // The suffixed names are what the driver's own header maps the plain ones to.
  const internal::SymbolRow rows[] = {
      {"cuInit", &driver.Init},
      {"cuGetErrorName", &driver.GetErrorName},
      {"cuGetErrorString", &driver.GetErrorString},
      {"cuDriverGetVersion", &driver.DriverGetVersion},
      {"cuDeviceGetCount", &driver.DeviceGetCount},
      {"cuDeviceGet", &driver.DeviceGet},
      {"cuDeviceGetName", &driver.DeviceGetName},
      {"cuDeviceGetAttribute", &driver.DeviceGetAttribute},
      {"cuDevicePrimaryCtxRetain", &driver.DevicePrimaryCtxRetain},
      {"cuDevicePrimaryCtxRelease_v2", &driver.DevicePrimaryCtxRelease},
      {"cuCtxPushCurrent_v2", &driver.CtxPushCurrent},
      {"cuCtxPopCurrent_v2", &driver.CtxPopCurrent},
      {"cuMemAlloc_v2", &driver.MemAlloc},
      {"cuMemFree_v2", &driver.MemFree},
      {"cuMemAllocHost_v2", &driver.MemAllocHost},
      {"cuMemFreeHost", &driver.MemFreeHost},
      {"cuMemHostRegister_v2", &driver.MemHostRegister},
      {"cuMemHostUnregister", &driver.MemHostUnregister},
      {"cuMemcpyHtoD_v2", &driver.MemcpyHtoD},
      {"cuMemcpyDtoH_v2", &driver.MemcpyDtoH},
      {"cuMemcpyDtoHAsync_v2", &driver.MemcpyDtoHAsync},
      {"cuMemcpyHtoDAsync_v2", &driver.MemcpyHtoDAsync},
      {"cuMemcpyDtoDAsync_v2", &driver.MemcpyDtoDAsync},
      {"cuMemsetD8Async", &driver.MemsetD8Async},
      {"cuStreamCreate", &driver.StreamCreate},
      {"cuStreamDestroy_v2", &driver.StreamDestroy},
      {"cuStreamSynchronize", &driver.StreamSynchronize},
      {"cuStreamWaitEvent", &driver.StreamWaitEvent},
      {"cuEventCreate", &driver.EventCreate},
      {"cuEventDestroy_v2", &driver.EventDestroy},
      {"cuEventRecord", &driver.EventRecord},
      {"cuEventQuery", &driver.EventQuery},
      {"cuEventSynchronize", &driver.EventSynchronize},
      {"cuEventElapsedTime", &driver.EventElapsedTime},
      {"cuModuleLoadDataEx", &driver.ModuleLoadDataEx},
      {"cuModuleUnload", &driver.ModuleUnload},
      {"cuModuleGetFunction", &driver.ModuleGetFunction},
      {"cuFuncSetAttribute", &driver.FuncSetAttribute},
      {"cuLaunchKernel", &driver.LaunchKernel},
  };
  for (const internal::SymbolRow& row : rows) {
    void* symbol = ::dlsym(handle, row.name);
    if (symbol == nullptr) {
      return Unavailable(std::string("CUDA cannot be used: '") + library + "' has no function " +
                         row.name + "; NVIDIA's driver is too old or not the driver");
    }
    // POSIX promises that a function pointer fits an object pointer.
    *static_cast<void**>(row.slot) = symbol;
  }
  if (const Code code = driver.Init(0); code != 0) {
    return Unavailable("CUDA cannot be used here: " + driver.Describe(code));
  }
  int devices = 0;
  if (const Code code = driver.DeviceGetCount(&devices); code != 0 || devices == 0) {
    return Unavailable("CUDA cannot be used here: the driver sees no device");
  }
  return driver;
}

/// A device's primary context, retained for the lifetime of this object. Move-only. Const functions
/// may be called from any thread.
class PrimaryContext {
 public:
  /// `ordinal` counts devices from 0. kInvalidArgument if there is no such device; kBackend if the
  /// driver fails.
  static Result<PrimaryContext> Retain(const Driver& driver, int ordinal) {
    int devices = 0;
    VERNIER_TRY(driver.Check(driver.DeviceGetCount(&devices), "counting devices"));
    if (ordinal < 0 || ordinal >= devices) {
      return InvalidArgument("there is no CUDA device " + std::to_string(ordinal) +
                             ": devices 0 to " + std::to_string(devices - 1) + " are here");
    }
    DeviceNumber device = 0;
    VERNIER_TRY(driver.Check(driver.DeviceGet(&device, ordinal), "finding the device"));
    Context context = nullptr;
    VERNIER_TRY(driver.Check(driver.DevicePrimaryCtxRetain(&context, device),
                             "taking the primary context of device " + std::to_string(ordinal)));
    return PrimaryContext(driver, ordinal, device, context);
  }

  PrimaryContext(PrimaryContext&& other) noexcept
      : driver_(other.driver_),
        ordinal_(other.ordinal_),
        device_(other.device_),
        context_(std::exchange(other.context_, nullptr)) {}
  PrimaryContext& operator=(PrimaryContext&&) = delete;
  ~PrimaryContext() {
    if (context_ != nullptr) (void)driver_.DevicePrimaryCtxRelease(device_);
  }

  const Driver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  Context context() const { return context_; }

  /// The device's name, such as "NVIDIA H200"; "unknown" if the driver does not answer.
  std::string name() const {
    char text[256] = {};
    return driver_.DeviceGetName(text, sizeof(text), device_) == 0 ? text : "unknown";
  }
  /// 0 if the driver does not know the attribute.
  int attribute(Attribute which) const {
    int value = 0;
    return driver_.DeviceGetAttribute(&value, which, device_) == 0 ? value : 0;
  }

 private:
  PrimaryContext(const Driver& driver, int ordinal, DeviceNumber device, Context context)
      : driver_(driver), ordinal_(ordinal), device_(device), context_(context) {}

  Driver driver_;
  int ordinal_;
  DeviceNumber device_;
  Context context_;
};

/// Makes a context current on this thread until the end of the scope, then restores the previous
/// one. Check status(): if it is an error, no context was made current. `context` must outlive
/// this.
class CurrentContext {
 public:
  explicit CurrentContext(const PrimaryContext& context)
      : driver_(context.driver()), code_(driver_.CtxPushCurrent(context.context())) {}
  ~CurrentContext() {
    Context popped = nullptr;
    if (code_ == 0) (void)driver_.CtxPopCurrent(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  Status status() const { return driver_.Check(code_, "entering the device's context"); }

 private:
  const Driver& driver_;
  Code code_;
};

/// Memory on a device; keeps the context alive. May be released on any thread. The contents are
/// not initialised.
class DeviceMemory {
 public:
  /// kBackend if there is not enough memory. Zero bytes give a null pointer.
  static Result<std::shared_ptr<DeviceMemory>> Allocate(
      std::shared_ptr<const PrimaryContext> context, size_t bytes) {
    DevicePointer pointer = 0;
    if (bytes > 0) {
      const CurrentContext current(*context);
      VERNIER_TRY(current.status());
      const Driver& driver = context->driver();
      VERNIER_TRY(driver.Check(driver.MemAlloc(&pointer, bytes),
                               "allocating " + std::to_string(bytes) + " bytes"));
    }
    return std::shared_ptr<DeviceMemory>(new DeviceMemory(std::move(context), pointer, bytes));
  }
  ~DeviceMemory() {
    if (pointer_ == 0) return;
    const CurrentContext current(*context_);
    (void)context_->driver().MemFree(pointer_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  DevicePointer pointer() const { return pointer_; }
  void* data() const { return reinterpret_cast<void*>(pointer_); }
  size_t size() const { return size_; }

 private:
  DeviceMemory(std::shared_ptr<const PrimaryContext> context, DevicePointer pointer, size_t size)
      : context_(std::move(context)), pointer_(pointer), size_(size) {}

  std::shared_ptr<const PrimaryContext> context_;
  DevicePointer pointer_;
  size_t size_;
};

}  // namespace vernier::cuda
