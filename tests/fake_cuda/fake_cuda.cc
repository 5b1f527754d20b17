// A libcuda.so.1 for machines without a GPU: one device whose memory is the host's. It allocates,
// copies and synchronises, and refuses to compile kernels, as a driver too old for them would.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kUnsupportedPtx = 222;
constexpr int kAlreadyLocked = 712;
constexpr int kNotReady = 600;

// $VERNIER_FAKE_CUDA: "no-device", "no-memory" or "no-lock"; "slow": what was done is known to be
// done 20 ms later only; "late-copies": what is copied to the device without a stream arrives there
// when the default stream is waited for, as it may with a real one.
bool Behaves(const char* how) {
  const char* value = std::getenv("VERNIER_FAKE_CUDA");
  return value != nullptr && std::strcmp(value, how) == 0;
}

// $VERNIER_FAKE_CUDA_DIES is "COUNT:FILE": the process ends at so many allocations, unless FILE
// exists, which is written then.
void MayDie() {
  static std::atomic<int> allocations = 0;
  const char* when = std::getenv("VERNIER_FAKE_CUDA_DIES");
  const char* path = when == nullptr ? nullptr : std::strchr(when, ':');
  if (path == nullptr || ++allocations < std::atoi(when)) return;
  std::FILE* file = std::fopen(path + 1, "wxe");
  if (file == nullptr) return;
  std::fclose(file);
  std::abort();
}

// $VERNIER_FAKE_CUDA_WAITS is a file that gets a line for each time that the program waits for the
// device.
void NoteWait() {
  const char* path = std::getenv("VERNIER_FAKE_CUDA_WAITS");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "ae");
  if (file == nullptr) return;
  std::fputs("wait\n", file);
  std::fclose(file);
}

// An event is the time at which it has passed.
using Clock = std::chrono::steady_clock;
Clock::time_point& PlaceOf(void* event) { return *static_cast<Clock::time_point*>(event); }
std::chrono::milliseconds Delay() { return std::chrono::milliseconds(Behaves("slow") ? 20 : 0); }

std::set<void*>& Locked() {
  static std::set<void*> locked;
  return locked;
}

struct LateCopy {
  void* to;
  std::vector<char> bytes;
};

// Those of the default stream that are on their way.
class LateCopies {
 public:
  void Add(void* to, const void* from, size_t bytes) {
    const auto* first = static_cast<const char*>(from);
    const std::lock_guard lock(mutex_);
    copies_.push_back({to, {first, first + bytes}});
  }
  void Arrive() {
    const std::lock_guard lock(mutex_);
    for (const LateCopy& copy : copies_) std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
    copies_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<LateCopy> copies_;
};

LateCopies& OnTheWay() {
  static LateCopies copies;
  return copies;
}

void* AddressOf(uint64_t memory) { return reinterpret_cast<void*>(memory); }

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
  MayDie();
  // Zeros, as new memory of a device often is.
  void* memory = Behaves("no-memory") ? nullptr : std::calloc(bytes, 1);
  *out = reinterpret_cast<uint64_t>(memory);
  return memory != nullptr ? 0 : kOutOfMemory;
}
EXPORT int cuMemFree_v2(uint64_t memory) {
  OnTheWay().Arrive();
  std::free(AddressOf(memory));
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
  if (Behaves("late-copies")) return OnTheWay().Add(AddressOf(to), from, bytes), 0;
  return std::memcpy(AddressOf(to), from, bytes), 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  if (stream == nullptr) OnTheWay().Arrive();
  return std::memcpy(to, AddressOf(from), bytes), 0;
}
EXPORT int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  if (stream == nullptr) OnTheWay().Arrive();
  return std::memcpy(AddressOf(to), from, bytes), 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return cuMemcpyHtoDAsync_v2(to, AddressOf(from), bytes, stream);
}
EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
  return std::memset(AddressOf(to), value, bytes), 0;
}
EXPORT int cuStreamCreate(void** out, unsigned) { return *out = out, 0; }
EXPORT int cuStreamDestroy_v2(void*) { return 0; }
EXPORT int cuStreamSynchronize(void* stream) {
  NoteWait();
  if (stream == nullptr) OnTheWay().Arrive();
  return 0;
}
EXPORT int cuStreamWaitEvent(void*, void*, unsigned) { return 0; }
EXPORT int cuEventCreate(void** out, unsigned) { return *out = new Clock::time_point, 0; }
EXPORT int cuEventDestroy_v2(void* event) { return delete &PlaceOf(event), 0; }
EXPORT int cuEventRecord(void* event, void*) { return PlaceOf(event) = Clock::now() + Delay(), 0; }
EXPORT int cuEventQuery(void* event) { return Clock::now() < PlaceOf(event) ? kNotReady : 0; }
EXPORT int cuEventSynchronize(void* event) {
  NoteWait();
  std::this_thread::sleep_until(PlaceOf(event));
  return 0;
}
EXPORT int cuEventElapsedTime(float* out, void* from, void* to) {
  *out = std::chrono::duration<float, std::milli>(PlaceOf(to) - PlaceOf(from)).count();
  return 0;
}
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
