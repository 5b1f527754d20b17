#include "run/workers/device_outputs.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kernels/pair_measures.h"

namespace vernier {

// One output and its range of addresses. Lives as long as a tensor refers to it.
class DeviceOutputs::Entry {
 public:
  Entry(DeviceOutputs& owner, const std::shared_ptr<Worker>& worker, uint64_t handle,
        std::byte* range, size_t size)
      : owner_(owner), worker_(worker), handle_(handle), range_(range), size_(size) {
    owner_.entries_.emplace(range_, this);
  }
  ~Entry() {
    owner_.entries_.erase(range_);
    ::munmap(range_, size_);
    if (const std::shared_ptr<Worker> worker = worker_.lock()) worker->Release(handle_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  bool held() const { return held_; }
  uint64_t handle() const { return handle_; }
  std::shared_ptr<Worker> worker() const { return worker_.lock(); }

  Status Fetch() {
    if (!held_) return {};
    const std::shared_ptr<Worker> worker = worker_.lock();
    if (worker == nullptr) return BackendError("the worker that kept an output is gone");
    VERNIER_ASSIGN_OR_RETURN(const Tensor bytes, worker->Fetch(handle_));
    if (bytes.bytes().size() != size_) return BackendError("an output changed its size");
    if (::mprotect(range_, size_, PROT_READ | PROT_WRITE) != 0) {
      return Internal(std::string("no memory for an output: ") + std::strerror(errno));
    }
    std::memcpy(range_, bytes.bytes().data(), size_);
    ::mprotect(range_, size_, PROT_READ);
    held_ = false;
    return {};
  }

 private:
  DeviceOutputs& owner_;
  std::weak_ptr<Worker> worker_;  // a runner ends its worker when nobody else uses it
  uint64_t handle_;
  std::byte* range_;
  size_t size_;
  bool held_ = true;
};

Result<Tensor> DeviceOutputs::Adopt(const std::shared_ptr<Worker>& worker,
                                    const KeptOutput& output) {
  const int64_t count = ElementCount(output.dims).value_or(-1);
  const std::optional<uint64_t> size =
      count < 0 ? std::nullopt : ByteSize(output.dtype, static_cast<uint64_t>(count));
  if (!size) return BackendError("output '" + output.name + "' has an impossible shape");
  if (*size == 0) {
    worker->Release(output.handle);
    return Tensor::Copy(output.dtype, output.dims, {});
  }
  void* const range = ::mmap(nullptr, static_cast<size_t>(*size), PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    return Internal(std::string("no addresses for output '") + output.name +
                    "': " + std::strerror(errno));
  }
  auto entry = std::make_shared<Entry>(*this, worker, output.handle, static_cast<std::byte*>(range),
                                       static_cast<size_t>(*size));
  return Tensor::Wrap(output.dtype, output.dims,
                      {static_cast<std::byte*>(range), static_cast<size_t>(*size)},
                      std::move(entry));
}

DeviceOutputs::Entry* DeviceOutputs::Find(const Tensor& tensor) const {
  const auto found = entries_.find(tensor.bytes().data());
  return found == entries_.end() ? nullptr : found->second;
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

}  // namespace vernier
