// A libcuda.so.1 for machines without a GPU: one device whose memory is the host's. It allocates,
// copies and synchronises, and refuses to compile kernels, as a driver too old for them would.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kUnsupportedPtx = 222;
constexpr int kAlreadyLocked = 712;

// $VERNIER_FAKE_CUDA: "no-device", "no-memory" or "no-lock".
bool Behaves(const char* how) {
  const char* value = std::getenv("VERNIER_FAKE_CUDA");
  return value != nullptr && std::strcmp(value, how) == 0;
}

std::set<void*>& Locked() {
  static std::set<void*> locked;
  return locked;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cuInit(unsigned) { return 0; }
EXPORT int cuGetErrorName(int code, const char** out) {
  *out = code == kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
         : code == kUnsupportedPtx ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
                                   : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
EXPORT int cuGetErrorString(int code, const char** out) {
  *out = code == kOutOfMemory      ? "out of memory"
         : code == kUnsupportedPtx ? "the provided PTX was compiled with an unsupported toolchain."
                                   : "invalid argument";
  return 0;
}
EXPORT int cuDriverGetVersion(int* out) { return *out = 10000, 0; }
EXPORT int cuDeviceGetCount(int* out) { return *out = Behaves("no-device") ? 0 : 1, 0; }
EXPORT int cuDeviceGet(int* out, int ordinal) { return *out = ordinal, 0; }
EXPORT int cuDeviceGetName(char* out, int size, int) {
  std::strncpy(out, "Fake GPU", static_cast<size_t>(size));
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* out, int, int) { return *out = 1, 0; }
EXPORT int cuDevicePrimaryCtxRetain(void** out, int) { return *out = out, 0; }
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
EXPORT int cuCtxPushCurrent_v2(void*) { return 0; }
EXPORT int cuCtxPopCurrent_v2(void** out) { return *out = nullptr, 0; }
EXPORT int cuMemAlloc_v2(uint64_t* out, size_t bytes) {
  void* memory = Behaves("no-memory") ? nullptr : std::malloc(bytes);
  *out = reinterpret_cast<uint64_t>(memory);
  return memory != nullptr ? 0 : kOutOfMemory;
}
EXPORT int cuMemFree_v2(uint64_t memory) {
  std::free(reinterpret_cast<void*>(memory));
  return 0;
}
EXPORT int cuMemAllocHost_v2(void** out, size_t bytes) {
  *out = std::malloc(bytes);
  return *out != nullptr ? 0 : kOutOfMemory;
}
EXPORT int cuMemFreeHost(void* memory) { return std::free(memory), 0; }
// Memory is locked once, and unlocked while it is there still.
EXPORT int cuMemHostRegister_v2(void* memory, size_t, unsigned) {
  if (Behaves("no-lock")) return kOutOfMemory;
  return Locked().insert(memory).second ? 0 : kAlreadyLocked;
}
EXPORT int cuMemHostUnregister(void* memory) {
  return Locked().erase(memory) == 1 ? 0 : kInvalidValue;
}
EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
  return cuMemcpyHtoD_v2(to, reinterpret_cast<const void*>(from), bytes);
}
EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
EXPORT int cuStreamCreate(void** out, unsigned) { return *out = out, 0; }
EXPORT int cuStreamDestroy_v2(void*) { return 0; }
EXPORT int cuStreamSynchronize(void*) { return 0; }
EXPORT int cuStreamWaitEvent(void*, void*, unsigned) { return 0; }
EXPORT int cuEventCreate(void** out, unsigned) { return *out = out, 0; }
EXPORT int cuEventDestroy_v2(void*) { return 0; }
EXPORT int cuEventRecord(void*, void*) { return 0; }
EXPORT int cuEventSynchronize(void*) { return 0; }
EXPORT int cuEventElapsedTime(float* out, void*, void*) { return *out = 0, 0; }
EXPORT int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**) {
  return kUnsupportedPtx;
}
EXPORT int cuModuleUnload(void*) { return 0; }
EXPORT int cuModuleGetFunction(void**, void*, const char*) { return kInvalidValue; }
EXPORT int cuFuncSetAttribute(void*, int, int) { return kInvalidValue; }
EXPORT int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void*, void**, void**) {
  return kInvalidValue;
}
