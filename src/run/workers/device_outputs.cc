#include "run/workers/device_outputs.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/measures/pair_measures.h"

namespace vernier {

// Addresses without memory. A state needs some at each step, so those that were never filled are
// used again. Outlives the owner with the last tensor.
class DeviceOutputs::Ranges {
 public:
  Ranges() = default;
  ~Ranges() {
    for (const std::span<std::byte> range : spare_) ::munmap(range.data(), range.size());
  }
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;

  /// Of `size` bytes at least; empty, with errno, where there is none.
  std::span<std::byte> Take(size_t size) {
    const auto fits = [&](std::span<std::byte> range) { return range.size() >= size; };
    const auto found = std::ranges::find_if(spare_, fits);
    if (found != spare_.end()) {
      const std::span<std::byte> range = *found;
      spare_.erase(found);
      return range;
    }
    constexpr size_t kLeast = 4096;
    const size_t whole = std::bit_ceil(std::max(size, kLeast));
    void* const range =
        ::mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return {};
    return {static_cast<std::byte*>(range), whole};
  }

  void GiveBack(std::span<std::byte> range, bool filled) {
    constexpr size_t kMostSpare = 64;
    if (filled || spare_.size() >= kMostSpare) {
      ::munmap(range.data(), range.size());
    } else {
      spare_.push_back(range);
    }
  }

  std::map<const std::byte*, Entry*> entries;

 private:
  std::vector<std::span<std::byte>> spare_;
};

// One output and its range of addresses. Lives as long as a tensor refers to it.
class DeviceOutputs::Entry {
 public:
  Entry(std::shared_ptr<Ranges> ranges, const std::shared_ptr<Worker>& worker, uint64_t handle,
        std::span<std::byte> range, size_t size)
      : ranges_(std::move(ranges)), worker_(worker), handle_(handle), range_(range), size_(size) {
    ranges_->entries.emplace(range_.data(), this);
  }
  ~Entry() {
    ranges_->entries.erase(range_.data());
    ranges_->GiveBack(range_, !held_);
    if (const std::shared_ptr<Worker> worker = worker_.lock()) worker->Release(handle_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  bool held() const { return held_; }
  uint64_t handle() const { return handle_; }
  size_t size() const { return size_; }
  std::shared_ptr<Worker> worker() const { return worker_.lock(); }

  Status Fetch() {
    if (!held_) return {};
    const std::shared_ptr<Worker> worker = worker_.lock();
    if (worker == nullptr) return BackendError("the worker that kept an output is gone");
    VERNIER_ASSIGN_OR_RETURN(const Tensor bytes, worker->Fetch(handle_));
    if (bytes.bytes().size() != size_) return BackendError("an output changed its size");
    if (::mprotect(range_.data(), size_, PROT_READ | PROT_WRITE) != 0) {
      return Internal(std::string("no memory for an output: ") + std::strerror(errno));
    }
    std::memcpy(range_.data(), bytes.bytes().data(), size_);
    ::mprotect(range_.data(), size_, PROT_READ);
    held_ = false;
    return {};
  }

 private:
  std::shared_ptr<Ranges> ranges_;
  std::weak_ptr<Worker> worker_;  // a runner ends its worker when nothing else uses it
  uint64_t handle_;
  std::span<std::byte> range_;
  size_t size_;
  bool held_ = true;
};

DeviceOutputs::DeviceOutputs(Logger& logger)
    : logger_(logger), ranges_(std::make_shared<Ranges>()) {}

Result<Tensor> DeviceOutputs::Adopt(const std::shared_ptr<Worker>& worker,
                                    const KeptOutput& output) {
  const int64_t count = ElementCount(output.dims).value_or(-1);
  const std::optional<uint64_t> size =
      count < 0 ? std::nullopt : ByteSize(output.dtype, static_cast<uint64_t>(count));
  constexpr uint64_t kMost = std::numeric_limits<ptrdiff_t>::max();
  if (!size || *size > kMost) {
    return BackendError("output '" + output.name + "' has an impossible shape");
  }
  if (*size == 0) {
    worker->Release(output.handle);
    return Tensor::Copy(output.dtype, output.dims, {});
  }
  const std::span<std::byte> range = ranges_->Take(static_cast<size_t>(*size));
  if (range.empty()) {
    const std::string why = std::strerror(errno);
    worker->Release(output.handle);
    return Internal("no addresses for output '" + output.name + "': " + why);
  }
  auto entry =
      std::make_shared<Entry>(ranges_, worker, output.handle, range, static_cast<size_t>(*size));
  return Tensor::Wrap(output.dtype, output.dims, range.first(static_cast<size_t>(*size)),
                      std::move(entry));
}

DeviceOutputs::Entry* DeviceOutputs::Find(const Tensor& tensor) const {
  const auto found = ranges_->entries.find(tensor.bytes().data());
  return found == ranges_->entries.end() ? nullptr : found->second;
}

bool DeviceOutputs::Holds(const Tensor& tensor) const {
  const Entry* const entry = Find(tensor);
  return entry != nullptr && entry->held();
}

bool DeviceOutputs::Lost(const Tensor& tensor) const {
  if (!Holds(tensor)) return false;
  const std::shared_ptr<Worker> worker = Find(tensor)->worker();
  return worker == nullptr || !worker->death().ok();
}

Result<PairMeasures> DeviceOutputs::Measure(const Tensor& a, const Tensor& b,
                                            const MeasureRequest& request) {
  const Entry* const x = Find(a);
  const Entry* const y = Find(b);
  if (x == nullptr || y == nullptr) return Internal("an output to measure is not on a device");
  const std::shared_ptr<Worker> worker = x->worker();
  if (worker == nullptr || worker != y->worker()) {
    return Unimplemented("outputs of two workers are not compared on a device");
  }
  Result<PairMeasures> measures = worker->Measure(x->handle(), y->handle(), request);
  const StatusCode code = measures.status().code();
  if (code == StatusCode::kUnavailable || code == StatusCode::kUnimplemented) {
    logger_.Once(Severity::kInfo,
                 "Outputs are copied from the GPU to be compared: " + measures.status().message());
  }
  return measures;
}

Status DeviceOutputs::Fetch(const Tensor& tensor) {
  Entry* const entry = Find(tensor);
  return entry == nullptr ? Status() : entry->Fetch();
}

Status DeviceOutputs::FetchAll(const TensorMap& tensors) {
  for (const NamedTensor& tensor : tensors) VERNIER_TRY(Fetch(tensor.tensor));
  return {};
}

Result<std::optional<TensorBlock>> DeviceOutputs::Encode(const TensorMap& feed,
                                                         const Worker& worker) {
  const auto kept_there = [&](const Tensor& tensor) -> const Entry* {
    const Entry* const entry = Find(tensor);
    const bool there = entry != nullptr && entry->held() && entry->worker().get() == &worker &&
                       entry->size() == tensor.bytes().size();
    return there ? entry : nullptr;
  };
  TensorBlockBuilder builder;
  bool any = false;
  for (const auto& [name, tensor] : feed) {
    const Entry* const kept = kept_there(tensor);
    any |= kept != nullptr;
    if (kept != nullptr) {
      builder.AddKept(name, tensor.dtype(), tensor.dims(), kept->handle());
      continue;
    }
    VERNIER_TRY(Fetch(tensor));
    builder.Add(name, tensor.dtype(), tensor.dims(), tensor.bytes());
    if (tensor.memory()) builder.Use(std::const_pointer_cast<SharedMemory>(tensor.memory()));
  }
  if (!any) return std::optional<TensorBlock>();
  VERNIER_ASSIGN_OR_RETURN(TensorBlock block, builder.Finish());
  return std::optional<TensorBlock>(std::move(block));
}

}  // namespace vernier
