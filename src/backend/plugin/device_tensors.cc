#include "backend/plugin/device_tensors.h"
#include "kernels/measures/pair_measures.h"

#include <cstring>
#include <string_view>
#include <utility>

namespace vernier {
namespace {

constexpr unsigned kForAllContexts = 1;  // CU_MEMHOSTREGISTER_PORTABLE
constexpr std::string_view kCopying = "copying an output from the GPU";

gpu::DeviceElements ElementsOf(const OwnedTensor& tensor) {
  const vn_tensor& t = tensor.abi();
  return {tensor.dtype(), reinterpret_cast<cuda::DevicePointer>(t.data), tensor.count(),
          static_cast<cuda::Event>(t.sync)};
}

}  // namespace

Result<DeviceTensors::Device*> DeviceTensors::DeviceOf(int32_t device) {
  const auto known = devices_.find(device);
  if (known != devices_.end()) return &known->second;
  VERNIER_ASSIGN_OR_RETURN(const cuda::Driver driver, cuda::Driver::Load());
  VERNIER_ASSIGN_OR_RETURN(cuda::PrimaryContext context,
                           cuda::PrimaryContext::Retain(driver, device));
  return &devices_.try_emplace(device, std::move(context)).first->second;
}

Result<gpu::DeviceMeasures*> DeviceTensors::MeasuresOf(int32_t device) {
  auto known = measures_.find(device);
  // A failure is remembered too: what is missing stays missing.
  if (known == measures_.end()) {
    known = measures_.emplace(device, gpu::DeviceMeasures::Open(device)).first;
  }
  if (!known->second.ok()) return known->second.status();
  return &*known->second;
}

// Page-locked once for all inferences to come, until the piece ends.
bool DeviceTensors::IsLocked(const Device& device, LentMemory::Piece* piece) {
  if (piece == nullptr || piece->lock_tried()) return piece != nullptr && piece->locked();
  const std::span<std::byte> bytes = piece->bytes();
  std::shared_ptr<void> lock;
  if (device.context->driver().MemHostRegister(bytes.data(), bytes.size(), kForAllContexts) == 0) {
    lock = std::shared_ptr<void>(bytes.data(), [context = device.context](void* memory) {
      const cuda::CurrentContext current(*context);
      (void)context->driver().MemHostUnregister(memory);
    });
  }
  piece->AttachLock(std::move(lock));
  return piece->locked();
}

Status DeviceTensors::CopyToHost(const vn_tensor& tensor, std::span<std::byte> to,
                                 LentMemory* lent) {
  if (to.empty()) return {};
  if (tensor.device_type == VN_DEVICE_CPU) {
    std::memcpy(to.data(), tensor.data, to.size());
    return {};
  }
  VERNIER_ASSIGN_OR_RETURN(Device* const device, DeviceOf(tensor.device_id));
  const cuda::CurrentContext current(*device->context);
  VERNIER_TRY(current.status());
  const cuda::Driver& driver = device->context->driver();
  if (tensor.sync != nullptr) {
    VERNIER_TRY(driver.Check(driver.EventSynchronize(static_cast<cuda::Event>(tensor.sync)),
                             "waiting for an output to be ready"));
  }
  if (lent != nullptr && IsLocked(*device, lent->Find(to))) {
    VERNIER_TRY(driver.Check(
        driver.MemcpyDtoHAsync(to.data(), reinterpret_cast<cuda::DevicePointer>(tensor.data),
                               to.size(), /*stream=*/nullptr),
        kCopying));
    return driver.Check(driver.StreamSynchronize(/*stream=*/nullptr), kCopying);
  }
  // On the default stream, which waits for what others have put on it.
  return device->copies.ToHost(to.data(), reinterpret_cast<cuda::DevicePointer>(tensor.data),
                               to.size(), /*stream=*/nullptr);
}

Result<PairMeasures> DeviceTensors::Measure(const OwnedTensor& a, const OwnedTensor& b,
                                            const MeasureRequest& request) {
  for (const OwnedTensor* tensor : {&a, &b}) {
    if (tensor->abi().device_type != VN_DEVICE_CUDA)
      return Unimplemented("an output is in host memory");
  }
  if (a.abi().device_id != b.abi().device_id) {
    return Unimplemented("tensors on different GPUs are not compared there");
  }
  VERNIER_TRY(gpu::CheckOffered(a.dtype(), b.dtype(), request));
  VERNIER_ASSIGN_OR_RETURN(gpu::DeviceMeasures* const measures, MeasuresOf(a.abi().device_id));
  return measures->Measure(ElementsOf(a), ElementsOf(b), request);
}

uint64_t DeviceTensors::Keep(uint64_t session, OwnedTensor tensor) {
  kept_.emplace(++last_handle_, Kept{session, std::move(tensor)});
  return last_handle_;
}

uint64_t DeviceTensors::LastOf(uint64_t session, std::string_view name) const {
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    const vn_str called = kept->second.tensor.abi().name;
    if (kept->second.session == session && std::string_view(called.data, called.size) == name) {
      return kept->first;
    }
  }
  return 0;
}

const OwnedTensor* DeviceTensors::Find(uint64_t handle) const {
  const auto found = kept_.find(handle);
  return found == kept_.end() ? nullptr : &found->second.tensor;
}

void DeviceTensors::ReleaseSession(uint64_t session) {
  std::erase_if(kept_, [&](const auto& entry) { return entry.second.session == session; });
}

}  // namespace vernier
