// The kernels of this program on one CUDA device: memory for their results, launches, and the
// module of each variant, compiled by the driver when it is first used.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "gpu/kernel_records.h"
#include "vernier/backend_cuda.hpp"
#include "vernier/status.h"

namespace vernier::gpu {

/// Not thread-safe. Every call makes the primary context current and puts back what was.
class DeviceKernels {
 public:
  /// kUnavailable when this build has no kernels, or there is no driver or device to run them.
  static Result<std::unique_ptr<DeviceKernels>> Open(int ordinal);

  ~DeviceKernels();
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;

  const std::shared_ptr<const cuda::PrimaryContext>& context() const { return context_; }

  /// "NVIDIA H200".
  std::string name() const { return context_->name(); }

  /// Where kernels put results, on the device and, after Fetch, here. Both have kResultBytes.
  static constexpr size_t kResultBytes = size_t{1} << 20;
  cuda::DevicePointer results() const { return results_->pointer(); }
  const std::byte* fetched() const { return host_; }

  /// What is launched from now on waits for `event`; null is nothing to wait for.
  Status WaitFor(cuda::Event event);

  struct Launch {
    std::string_view variant;
    const char* kernel;
    unsigned blocks = 1;
    unsigned shared_bytes = 0;
    unsigned threads = kThreads;
  };
  /// `arguments` point to the kernel's parameters. kUnimplemented when the build lacks the variant.
  Status Run(const Launch& launch, void** arguments);

  int multiprocessors() const { return multiprocessors_; }
  /// The most shared memory that a block may have.
  size_t shared_bytes() const { return shared_bytes_; }

  /// Copies to the results, from byte `offset` on, before what is launched next.
  Status Store(size_t offset, std::span<const std::byte> bytes);

  /// Sets the first `bytes` of the results to zero.
  Status ClearResults(size_t bytes);

  /// Waits for everything launched and copies the first `bytes` of the results.
  Status Fetch(size_t bytes);

  /// Copies from the device to host memory, and waits.
  Status CopyToHost(void* to, cuda::DevicePointer from, size_t bytes);

  cuda::Stream stream() const { return stream_; }

 private:
  explicit DeviceKernels(std::shared_ptr<const cuda::PrimaryContext> context)
      : context_(std::move(context)) {}

  Status MakeResources();
  Result<cuda::Module> ModuleOf(std::string_view variant);
  Result<cuda::Function> FunctionOf(const Launch& launch);
  const cuda::Driver& driver() const { return context_->driver(); }

  std::shared_ptr<const cuda::PrimaryContext> context_;
  std::shared_ptr<cuda::DeviceMemory> results_;
  std::byte* host_ = nullptr;  // pinned
  int multiprocessors_ = 1;
  size_t shared_bytes_ = 0;
  cuda::Stream stream_ = nullptr;
  std::map<std::string, cuda::Module, std::less<>> modules_;
  std::map<std::string, cuda::Function, std::less<>> functions_;
};

}  // namespace vernier::gpu
