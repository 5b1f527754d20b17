#include "gpu/device_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "gpu/kernel_records.h"
#include "gpu/ptx_table.h"

namespace vernier::gpu {

Result<std::unique_ptr<DeviceKernels>> DeviceKernels::Open(int ordinal) {
  if (PtxModules().empty()) {
    return Unavailable("this build of vernier has no GPU kernels: it was made without nvcc");
  }
  VERNIER_ASSIGN_OR_RETURN(const cuda::Driver driver, cuda::Driver::Load());
  VERNIER_ASSIGN_OR_RETURN(cuda::PrimaryContext context,
                           cuda::PrimaryContext::Retain(driver, ordinal));
  std::unique_ptr<DeviceKernels> kernels(
      new DeviceKernels(std::make_shared<const cuda::PrimaryContext>(std::move(context))));
  VERNIER_TRY(kernels->MakeResources());
  return kernels;
}

Status DeviceKernels::MakeResources() {
  VERNIER_ASSIGN_OR_RETURN(results_, cuda::DeviceMemory::Allocate(context_, kResultBytes));
  const cuda::CurrentContext current(*context_);
  VERNIER_TRY(current.status());
  void* host = nullptr;
  VERNIER_TRY(driver().Check(driver().MemAllocHost(&host, kResultBytes), "allocating host memory"));
  host_ = static_cast<std::byte*>(host);
  multiprocessors_ = std::max(context_->attribute(cuda::kMultiprocessors), 1);
  shared_bytes_ = static_cast<size_t>(context_->attribute(cuda::kSharedBytesOptIn));
  // Not blocked by the default stream: what must be waited for comes with an event.
  return driver().Check(driver().StreamCreate(&stream_, cuda::kStreamNonBlocking),
                        "making a stream");
}

DeviceKernels::~DeviceKernels() {
  const cuda::CurrentContext current(*context_);
  if (!current.status().ok()) return;
  if (stream_ != nullptr) {
    (void)driver().StreamSynchronize(stream_);
    (void)driver().StreamDestroy(stream_);
  }
  for (const auto& [variant, module] : modules_) (void)driver().ModuleUnload(module);
  if (host_ != nullptr) (void)driver().MemFreeHost(host_);
}

Status DeviceKernels::WaitFor(cuda::Event event) {
  if (event == nullptr) return {};
  const cuda::CurrentContext current(*context_);
  VERNIER_TRY(current.status());
  return driver().Check(driver().StreamWaitEvent(stream_, event, 0),
                        "waiting for a tensor to be ready");
}

Result<cuda::Module> DeviceKernels::ModuleOf(std::string_view variant) {
  const auto known = modules_.find(variant);
  if (known != modules_.end()) return known->second;
  const std::span<const PtxModule> all = PtxModules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const PtxModule& m) { return m.name == variant; });
  if (found == all.end()) {
    return Unimplemented("this build has no GPU kernels for " + std::string(variant));
  }
  std::array<char, 4096> log{};
  std::array<int, 2> options = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const std::string text(found->text);  // the driver wants its end marked
  cuda::Module module = nullptr;
  const cuda::Code code = driver().ModuleLoadDataEx(&module, text.c_str(), options.size(),
                                                    options.data(), values.data());
  if (code != 0) {
    const std::string_view why(log.data());
    return Unavailable("this driver cannot compile the GPU kernels: " + driver().Describe(code) +
                       (why.empty() ? "" : ": " + std::string(why)));
  }
  modules_.emplace(variant, module);
  return module;
}

Result<cuda::Function> DeviceKernels::FunctionOf(const Launch& launch) {
  const std::string key = std::string(launch.variant) + "." + launch.kernel;
  const auto known = functions_.find(key);
  if (known != functions_.end()) return known->second;
  VERNIER_ASSIGN_OR_RETURN(const cuda::Module module, ModuleOf(launch.variant));
  cuda::Function function = nullptr;
  VERNIER_TRY(driver().Check(driver().ModuleGetFunction(&function, module, launch.kernel),
                             "finding the kernel " + key));
  // More than this a block gets only where the kernel allows it.
  constexpr unsigned kUsualSharedBytes = 48u << 10;
  if (launch.shared_bytes > kUsualSharedBytes) {
    VERNIER_TRY(driver().Check(driver().FuncSetAttribute(function, cuda::kMaxDynamicSharedBytes,
                                                         static_cast<int>(launch.shared_bytes)),
                               "asking for shared memory"));
  }
  functions_.emplace(key, function);
  return function;
}

Status DeviceKernels::Run(const Launch& launch, void** arguments) {
  const cuda::CurrentContext current(*context_);
  VERNIER_TRY(current.status());
  VERNIER_ASSIGN_OR_RETURN(const cuda::Function function, FunctionOf(launch));
  return driver().Check(driver().LaunchKernel(function, launch.blocks, 1, 1, launch.threads, 1, 1,
                                              launch.shared_bytes, stream_, arguments, nullptr),
                        "starting the kernel " + std::string(launch.kernel));
}

Status DeviceKernels::Store(size_t offset, std::span<const std::byte> bytes) {
  const cuda::CurrentContext current(*context_);
  VERNIER_TRY(current.status());
  // Through the pinned memory, which the copy reads until the next Fetch has waited for it.
  std::memcpy(host_ + offset, bytes.data(), bytes.size());
  return driver().Check(
      driver().MemcpyHtoDAsync(results() + offset, host_ + offset, bytes.size(), stream_),
      "copying to the device");
}

Status DeviceKernels::ClearResults(size_t bytes) {
  const cuda::CurrentContext current(*context_);
  VERNIER_TRY(current.status());
  return driver().Check(driver().MemsetD8Async(results(), 0, bytes, stream_), "clearing memory");
}

Status DeviceKernels::Fetch(size_t bytes) { return CopyToHost(host_, results(), bytes); }

Status DeviceKernels::CopyToHost(void* to, cuda::DevicePointer from, size_t bytes) {
  const cuda::CurrentContext current(*context_);
  VERNIER_TRY(current.status());
  if (bytes > 0) {
    VERNIER_TRY(driver().Check(driver().MemcpyDtoHAsync(to, from, bytes, stream_),
                               "copying from the device"));
  }
  return driver().Check(driver().StreamSynchronize(stream_), "waiting for the device");
}

}  // namespace vernier::gpu
