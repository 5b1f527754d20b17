// Copies between pageable host memory and a CUDA device at the speed of the bus. The copies go in
// pieces through page-locked memory, which several threads fill or empty while the device copies.
// For pageable memory the driver does the same with a single thread, piece by piece. Header-only.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "vernier/backend_cuda.hpp"
#include "vernier/status.h"

namespace vernier::cuda {

/// Not thread-safe: one copy at a time. The page-locked memory, kLanes * 2 pieces (32 MiB), is
/// allocated on first use; if that fails, the driver copies.
class StagedCopies {
 public:
  static constexpr size_t kPiece = size_t{2} << 20;  ///< bytes
  static constexpr size_t kLanes = 8;                ///< threads at most
  /// In bytes. The driver makes smaller copies.
  static constexpr size_t kWorthStaging = size_t{256} << 10;

  explicit StagedCopies(std::shared_ptr<const PrimaryContext> context)
      : context_(std::move(context)) {}
  ~StagedCopies() { Free(); }
  StagedCopies(const StagedCopies&) = delete;
  StagedCopies& operator=(const StagedCopies&) = delete;

  /// Copies `bytes` bytes, ordered on `stream`. On return, host memory of kWorthStaging bytes or
  /// more has been read; smaller blocks must stay valid until the stream has passed this point.
  /// kBackend if the driver fails; the contents of the device memory are then undefined.
  Status ToDevice(DevicePointer to, const void* from, size_t bytes, Stream stream) {
    if (bytes == 0) return {};
    if (bytes < kWorthStaging || !Prepare()) {
      return driver().Check(driver().MemcpyHtoDAsync(to, from, bytes, stream), kToDevice);
    }
    const auto* const source = static_cast<const std::byte*>(from);
    return InLanes(bytes, [=, this](size_t lane, size_t lanes) -> Status {
      for (size_t at = lane * kPiece, turn = 0; at < bytes; at += lanes * kPiece, ++turn) {
        const size_t size = std::min(kPiece, bytes - at);
        const Slot& slot = slots_[lane * 2 + turn % 2];
        VERNIER_TRY(Wait(slot));
        std::memcpy(slot.memory, source + at, size);
        VERNIER_TRY(driver().Check(driver().MemcpyHtoDAsync(to + at, slot.memory, size, stream),
                                   kToDevice));
        VERNIER_TRY(Mark(slot, stream));
      }
      return {};
    });
  }

  /// Copies after everything that is already on `stream`. On return, all bytes have arrived.
  /// kBackend if the driver fails; the contents of the host memory are then undefined.
  Status ToHost(void* to, DevicePointer from, size_t bytes, Stream stream) {
    if (bytes == 0) return {};
    if (bytes < kWorthStaging || !Prepare()) {
      VERNIER_TRY(driver().Check(driver().MemcpyDtoHAsync(to, from, bytes, stream), kToHost));
      return driver().Check(driver().StreamSynchronize(stream), kToHost);
    }
    auto* const target = static_cast<std::byte*>(to);
    return InLanes(bytes, [=, this](size_t lane, size_t lanes) -> Status {
      const size_t step = lanes * kPiece;
      const auto order = [&](size_t at, size_t turn) -> Status {
        if (at >= bytes) return {};
        const Slot& slot = slots_[lane * 2 + turn % 2];
        VERNIER_TRY(Wait(slot));
        VERNIER_TRY(driver().Check(
            driver().MemcpyDtoHAsync(slot.memory, from + at, std::min(kPiece, bytes - at), stream),
            kToHost));
        return Mark(slot, stream);
      };
      // One piece is in flight while the other is emptied.
      VERNIER_TRY(order(lane * kPiece, 0));
      for (size_t at = lane * kPiece, turn = 0; at < bytes; at += step, ++turn) {
        VERNIER_TRY(order(at + step, turn + 1));
        const Slot& slot = slots_[lane * 2 + turn % 2];
        VERNIER_TRY(Wait(slot));
        std::memcpy(target + at, slot.memory, std::min(kPiece, bytes - at));
      }
      return {};
    });
  }

 private:
  static constexpr std::string_view kToDevice = "copying an input to the GPU";
  static constexpr std::string_view kToHost = "copying an output from the GPU";

  struct Slot {
    std::byte* memory = nullptr;
    Event event = nullptr;  ///< marks the last copy from or to the memory
  };

  const Driver& driver() const { return context_->driver(); }
  Status Wait(const Slot& slot) const {
    return driver().Check(driver().EventSynchronize(slot.event), "waiting for a copy");
  }
  Status Mark(const Slot& slot, Stream stream) const {
    return driver().Check(driver().EventRecord(slot.event, stream), "marking a copy");
  }

  // False: no page-locked memory is available, and the driver must copy.
  bool Prepare() {
    if (memory_ != nullptr || failed_) return memory_ != nullptr;
    const CurrentContext current(*context_);
    failed_ =
        !current.status().ok() || driver().MemAllocHost(&memory_, slots_.size() * kPiece) != 0;
    for (size_t i = 0; i < slots_.size() && !failed_; ++i) {
      slots_[i].memory = static_cast<std::byte*>(memory_) + i * kPiece;
      failed_ = driver().EventCreate(&slots_[i].event, kEventDisableTiming) != 0;
    }
    if (failed_) Free();
    return !failed_;
  }

  void Free() {
    if (memory_ == nullptr) return;
    const CurrentContext current(*context_);
    for (Slot& slot : slots_) {
      if (slot.event != nullptr) (void)driver().EventSynchronize(slot.event);
      if (slot.event != nullptr) (void)driver().EventDestroy(slot.event);
      slot = {};
    }
    (void)driver().MemFreeHost(std::exchange(memory_, nullptr));
  }

  // Runs one lane on each of several threads, or a single one on this thread.
  template <typename Lane>
  Status InLanes(size_t bytes, const Lane& lane) const {
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const size_t lanes = std::min({(bytes + 2 * kPiece - 1) / (2 * kPiece), kLanes, cores});
    std::mutex mutex;
    Status status;
    const auto work = [&](size_t index) {
      const CurrentContext current(*context_);
      Status done = current.status();
      if (done.ok()) done = lane(index, lanes);
      const std::lock_guard lock(mutex);
      if (status.ok()) status = std::move(done);
    };
    std::vector<std::thread> threads;
    size_t own = 1;
    for (size_t i = 1; i < lanes; ++i) {
      try {
        threads.emplace_back(work, i);
      } catch (const std::system_error&) {
        // No more threads are available: this thread runs the remaining lanes.
        break;
      }
      ++own;
    }
    work(0);
    for (; own < lanes; ++own) work(own);
    for (std::thread& thread : threads) thread.join();
    return status;
  }

  std::shared_ptr<const PrimaryContext> context_;
  std::array<Slot, kLanes * 2> slots_{};
  void* memory_ = nullptr;
  bool failed_ = false;
};

}  // namespace vernier::cuda
