#include "tensorrt/session/session_inputs.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace vernier::trt {
namespace {

Result<nvinfer1::Dims> DimsOf(const vn_tensor& tensor) {
  nvinfer1::Dims dims{};
  using Extent = std::remove_reference_t<decltype(dims.d[0])>;
  if (tensor.rank > static_cast<uint32_t>(nvinfer1::Dims::MAX_DIMS)) {
    return InvalidArgument("input '" + std::string(sdk::View(tensor.name)) + "' has " +
                           std::to_string(tensor.rank) + " dimensions; TensorRT takes at most " +
                           std::to_string(nvinfer1::Dims::MAX_DIMS));
  }
  dims.nbDims = static_cast<int32_t>(tensor.rank);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.shape[i] > std::numeric_limits<Extent>::max()) {
      return InvalidArgument("input '" + std::string(sdk::View(tensor.name)) +
                             "' has a dimension beyond TensorRT's range");
    }
    dims.d[i] = static_cast<Extent>(tensor.shape[i]);
  }
  return dims;
}

const vn_tensor* FindInput(std::span<const vn_tensor* const> inputs, const std::string& name) {
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const vn_tensor* tensor) {
    return sdk::View(tensor->name) == name;
  });
  return found == inputs.end() ? nullptr : *found;
}

// TensorRT before 10 has no int64: its parser makes int32 of it, and so do we, exactly.
Result<std::vector<std::byte>> Narrowed(const vn_tensor& tensor) {
  const auto* values = static_cast<const int64_t*>(tensor.data);
  const size_t count = tensor.byte_size / sizeof(int64_t);
  std::vector<std::byte> bytes(count * sizeof(int32_t));
  for (size_t i = 0; i < count; ++i) {
    if (values[i] != static_cast<int32_t>(values[i])) {
      return InvalidArgument("input '" + std::string(sdk::View(tensor.name)) + "' holds " +
                             std::to_string(values[i]) +
                             ", which this TensorRT cannot take: it "
                             "computes the model's int64 as int32");
    }
    const auto narrow = static_cast<int32_t>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(narrow), &narrow, sizeof(narrow));
  }
  return bytes;
}

}  // namespace

void SessionInputs::Add(EngineTensor tensor) {
  Input& input = inputs_.emplace_back();
  input.name = tensor.spec.name;
  input.host = tensor.host;
  input.narrow = tensor.narrow;
  input.layout = tensor.layout;
  specs_.push_back(std::move(tensor.spec));
}

// An output of an earlier inference, where it lies on the device.
Status SessionInputs::SetFedBack(Input& input, const vn_tensor& tensor) {
  VERNIER_TRY(SetShape(input, tensor));
  return SetAddress(input, tensor.data);
}

uint32_t SessionInputs::FeedsBack() const {
  const bool as_they_are = std::ranges::all_of(inputs_, &Input::as_it_is);
  return as_they_are ? VN_FEEDS_BACK_CPU | VN_FEEDS_BACK_CUDA : VN_FEEDS_BACK_CPU;
}

Status SessionInputs::Set(Input& input, const vn_tensor& tensor) {
  if (tensor.device_type == VN_DEVICE_CUDA) return SetFedBack(input, tensor);
  const void* bytes = tensor.data;
  size_t size = tensor.byte_size;
  if (input.narrow) {
    VERNIER_ASSIGN_OR_RETURN(input.host_bytes, Narrowed(tensor));
    bytes = input.host_bytes.data();
    size = input.host_bytes.size();
  }
  VERNIER_TRY(SetShape(input, tensor));
  if (input.host) {
    // Aligned, and alive until the inference has ended.
    if (!input.narrow) {
      const auto* begin = static_cast<const std::byte*>(bytes);
      input.host_bytes.assign(begin, begin + size);
    }
    return context_.setTensorAddress(input.name.c_str(), input.host_bytes.data())
               ? Status()
               : BackendError("TensorRT refused input '" + input.name + "'");
  }
  if (input.layout) {
    const std::span<const int64_t> shape(tensor.shape, tensor.rank);
    const size_t element = CountOf(shape) == 0 ? 0 : size / CountOf(shape);
    std::vector<std::byte> laid_out(LaidOutCount(*input.layout, shape).value_or(0) * element);
    LayOut(*input.layout, shape, element, static_cast<const std::byte*>(bytes), laid_out.data());
    input.host_bytes = std::move(laid_out);
    bytes = input.host_bytes.data();
    size = input.host_bytes.size();
  }
  VERNIER_TRY(Copy(input.now, bytes, size, stream_));
  return SetAddress(input, input.now.buffer->data());
}

// What does not change is not said again: TensorRT would work its shapes out anew.
Status SessionInputs::SetShape(Input& input, const vn_tensor& tensor) {
  const std::span<const int64_t> shape(tensor.shape, tensor.rank);
  const bool same = input.shape && !input.host && std::ranges::equal(*input.shape, shape);
  if (same) return {};
  VERNIER_ASSIGN_OR_RETURN(const nvinfer1::Dims dims, DimsOf(tensor));
  input.shape.reset();
  shape_changed_ = true;
  if (!context_.setInputShape(input.name.c_str(), dims)) {
    return InvalidArgument("input '" + input.name +
                           "': the engine does not take this shape: " + shared_.logger.TakeError());
  }
  input.shape.emplace(shape.begin(), shape.end());
  return {};
}

Status SessionInputs::SetAddress(Input& input, void* address) {
  if (input.address == address) return {};
  input.address = nullptr;
  if (!context_.setTensorAddress(input.name.c_str(), address)) {
    return BackendError("TensorRT refused input '" + input.name + "'");
  }
  input.address = address;
  return {};
}

// What is large goes through page-locked memory of its own. Whoever reads the place's small one has
// ended: the last inference, or the one before that for the place of the next.
Status SessionInputs::Copy(Place& place, const void* bytes, size_t size, cuda::Stream stream) {
  if (place.buffer == nullptr || place.buffer->size() < size) {
    VERNIER_ASSIGN_OR_RETURN(place.buffer, shared_.device->Allocate(size));
  }
  if (size > 0 && size < cuda::StagedCopies::kWorthStaging) {
    if (place.pinned_size < size) {
      VERNIER_ASSIGN_OR_RETURN(place.pinned, shared_.device->AllocatePinned(size));
      place.pinned_size = size;
    }
    bytes = std::memcpy(place.pinned.get(), bytes, size);
  }
  return shared_.device->CopyToDevice(place.buffer->pointer(), bytes, size, stream);
}

Status SessionInputs::Take(std::span<const vn_tensor* const> inputs) {
  const bool sent = std::exchange(sent_, false);
  if (sent) VERNIER_TRY(shared_.device->WaitOnDevice(stream_, copied_));
  for (Input& input : inputs_) {
    const vn_tensor* tensor = FindInput(inputs, input.name);
    if (tensor == nullptr) return InvalidArgument("input '" + input.name + "' was not supplied");
    if (!sent) {
      VERNIER_TRY(Set(input, *tensor));
      continue;
    }
    std::swap(input.now, input.next);
    VERNIER_TRY(SetShape(input, *tensor));
    VERNIER_TRY(SetAddress(input, input.now.buffer->data()));
  }
  return {};
}

bool SessionInputs::HaveShapesOf(std::span<const vn_tensor* const> inputs) const {
  return std::ranges::all_of(inputs_, [&](const Input& input) {
    const vn_tensor* const tensor = FindInput(inputs, input.name);
    return tensor != nullptr && input.shape &&
           std::ranges::equal(*input.shape, std::span(tensor->shape, tensor->rank));
  });
}

bool SessionInputs::TakeShapeChange() { return std::exchange(shape_changed_, false); }

Status SessionInputs::CopyNext(std::span<const vn_tensor* const> next) {
  const CudaDevice& device = *shared_.device;
  if (next_stream_ == nullptr) {
    VERNIER_ASSIGN_OR_RETURN(next_stream_, device.CreateStream());
    VERNIER_ASSIGN_OR_RETURN(copied_, device.CreateEvent());
  }
  for (Input& input : inputs_) {
    const vn_tensor* tensor = FindInput(next, input.name);
    if (tensor == nullptr || !input.as_it_is()) return Unimplemented("copied in its own time");
    VERNIER_TRY(Copy(input.next, tensor->data, tensor->byte_size, next_stream_));
  }
  return device.Record(copied_, next_stream_);
}

bool SessionInputs::Send(std::span<const vn_tensor* const> next) {
  sent_ = sends_ = CopyNext(next).ok();
  return sent_;
}

bool SessionInputs::AddToKey(std::string& key) const {
  const auto add = [&](auto value) { key += std::to_string(value) + ' '; };
  for (const Input& input : inputs_) {
    if (input.host) return false;
    add(reinterpret_cast<uintptr_t>(input.address));
    for (const int64_t extent : *input.shape) add(extent);
  }
  return true;
}

void SessionInputs::End() {
  if (next_stream_ != nullptr) shared_.device->DestroyStream(next_stream_);
  if (copied_ != nullptr) shared_.device->DestroyEvent(copied_);
}

}  // namespace vernier::trt
