// Outputs of a plug-in that stay in the worker: on a CUDA device, whose context its framework owns,
// where they are compared in place, or as the state that the next step is fed with. And copies from
// such a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "backend/wire/lent_memory.h"
#include "gpu/device_measures.h"
#include "vernier/backend_abi.h"
#include "vernier/backend_cuda.hpp"
#include "vernier/backend_cuda_staging.hpp"
#include "vernier/status.h"

namespace vernier {

/// A tensor that the plug-in handed over, released with this. Of a checked type and size.
class OwnedTensor {
 public:
  /// `memory`, which may be null, is what its bytes may lie in.
  OwnedTensor(vn_tensor* tensor, DType dtype, int64_t count,
              std::shared_ptr<const void> memory = nullptr)
      : memory_(std::move(memory)), tensor_(tensor, &Release), dtype_(dtype), count_(count) {}

  const vn_tensor& abi() const { return *tensor_; }
  DType dtype() const { return dtype_; }
  int64_t count() const { return count_; }

 private:
  static void Release(vn_tensor* tensor) {
    if (tensor->release != nullptr) tensor->release(tensor);
  }

  std::shared_ptr<const void> memory_;
  std::unique_ptr<vn_tensor, void (*)(vn_tensor*)> tensor_;
  DType dtype_;
  int64_t count_;
};

/// Not thread-safe. Nothing of CUDA is touched before the first tensor that needs it.
class DeviceTensors {
 public:
  /// Waits for the tensor and copies it, from wherever it lies. `to` has its size. The device
  /// itself writes to what lies in `lent`, which may be null, where it can. kBackend when CUDA
  /// fails.
  Status CopyToHost(const vn_tensor& tensor, std::span<std::byte> to, LentMemory* lent = nullptr);

  /// kUnavailable or kUnimplemented when the pair must be copied and measured by the CPU, as one
  /// that lies on no device.
  Result<PairMeasures> Measure(const OwnedTensor& a, const OwnedTensor& b,
                               const MeasureRequest& request);

  /// Takes a tensor until it is released, and gives it a number that is never used again.
  uint64_t Keep(uint64_t session, OwnedTensor tensor);
  /// The number of the session's output of that name that was kept last; 0: there is none.
  uint64_t LastOf(uint64_t session, std::string_view name) const;
  /// nullptr for a number that is not, or no longer, kept.
  const OwnedTensor* Find(uint64_t handle) const;
  void Release(uint64_t handle) { kept_.erase(handle); }
  void ReleaseSession(uint64_t session);

 private:
  struct Kept {
    uint64_t session;
    OwnedTensor tensor;
  };

  // What copying from a device needs.
  struct Device {
    explicit Device(cuda::PrimaryContext opened)
        : context(std::make_shared<const cuda::PrimaryContext>(std::move(opened))),
          copies(context) {}
    std::shared_ptr<const cuda::PrimaryContext> context;
    cuda::StagedCopies copies;
  };

  Result<Device*> DeviceOf(int32_t device);
  static bool IsLocked(const Device& device, LentMemory::Piece* piece);
  Result<gpu::DeviceMeasures*> MeasuresOf(int32_t device);

  std::map<int32_t, Device> devices_;
  std::map<int32_t, Result<gpu::DeviceMeasures>> measures_;
  std::map<uint64_t, Kept> kept_;
  uint64_t last_handle_ = 0;
};

}  // namespace vernier
