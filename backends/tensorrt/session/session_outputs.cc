// The outputs of an engine: from where TensorRT writes them to what the host is given.
#include <algorithm>
#include <utility>

#include "tensorrt/library/trt_words.h"
#include "tensorrt/session/session_output.h"
#include "tensorrt/session/trt_session.h"

namespace vernier::trt {
namespace {

// Smaller outputs are cheaper to copy than to compare in place.
constexpr size_t kStaysOnDevice = size_t{256} << 10;

}  // namespace

void* TrtSession::Output::reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept {
  const auto serves = [size](const auto& memory) {
    return memory != nullptr && memory->size() >= size && memory.use_count() == 1;
  };
  if (!serves(buffer)) std::swap(buffer, other_);
  if (!serves(buffer)) {
    buffer.reset();  // before there is another: it may be large
    Result<std::shared_ptr<cuda::DeviceMemory>> memory = session_.shared_.device->Allocate(size);
    if (!memory.ok()) {
      failure = memory.status();
      return nullptr;
    }
    buffer = *std::move(memory);
  }
  return buffer->data();
}

void TrtSession::Output::notifyShape(const char*, const nvinfer1::Dims& dims) noexcept {
  shape = ShapeOf(dims);
}

Result<std::shared_ptr<std::byte>> TrtSession::Output::TakePinned(size_t size) {
  const auto serves = [size](const Pinned& pinned) {
    return pinned.size >= size && pinned.memory.use_count() == 1;
  };
  if (!serves(pinned_)) std::swap(pinned_, other_pinned_);
  if (!serves(pinned_)) {
    pinned_ = {};
    VERNIER_ASSIGN_OR_RETURN(pinned_.memory, session_.shared_.device->AllocatePinned(size));
    pinned_.size = size;
  }
  return pinned_.memory;
}

// The same name takes the place of an output.
Status TrtSession::AddDebugTensors(std::vector<sdk::OutputTensor>& outputs) {
  if (debug_ == nullptr) return {};
  VERNIER_ASSIGN_OR_RETURN(std::vector<sdk::OutputTensor> tensors, debug_->Take());
  has_debug_tensors_ |= !tensors.empty();
  for (sdk::OutputTensor& tensor : tensors) {
    const auto same = std::find_if(outputs.begin(), outputs.end(),
                                   [&](const auto& output) { return output.name == tensor.name; });
    if (same != outputs.end()) {
      *same = std::move(tensor);
    } else {
      outputs.push_back(std::move(tensor));
    }
  }
  return {};
}

// Of the inference that was launched last. Whoever waits for it may read the data afterwards.
Result<sdk::OutputTensor> TrtSession::Fetch(Output& output) {
  sdk::OutputTensor tensor;
  tensor.name = output.name;
  tensor.dtype = DTypeOf(output.type);
  tensor.shape = output.shape;
  if (tensor.dtype == DType::kUndefined) {
    tensor.skipped = "an element type that is not supported";
    return tensor;
  }
  const size_t count = CountOf(tensor.shape);
  tensor.byte_size = static_cast<size_t>(ByteSize(tensor.dtype, count).value_or(0));
  if (!output.layout && tensor.byte_size >= kStaysOnDevice &&
      shared_.logger.host().takes_cuda_outputs()) {
    tensor.data = output.buffer->data();
    tensor.keep_alive = output.buffer;
    tensor.device_type = VN_DEVICE_CUDA;
    tensor.device_id = shared_.device->ordinal();
    return tensor;
  }
  VERNIER_TRY(CopyOutput(output, tensor));
  return tensor;
}

Status TrtSession::CopyOutput(Output& output, sdk::OutputTensor& tensor) {
  const size_t count = CountOf(tensor.shape);
  size_t size = tensor.byte_size;
  if (output.layout && count > 0) {
    size = LaidOutCount(*output.layout, tensor.shape).value_or(0) * (tensor.byte_size / count);
  }
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<std::byte> pinned, output.TakePinned(size));
  if (output.buffer != nullptr) {
    VERNIER_TRY(shared_.device->CopyToHost(pinned.get(), output.buffer->pointer(), size, stream_));
  }
  tensor.data = pinned.get();
  tensor.keep_alive = pinned;
  if (!output.layout || count == 0) return {};
  VERNIER_TRY(shared_.device->Synchronize(stream_));
  const auto linear = std::make_shared<std::vector<std::byte>>(tensor.byte_size);
  Linearise(*output.layout, tensor.shape, tensor.byte_size / count, pinned.get(), linear->data());
  tensor.data = linear->data();
  tensor.keep_alive = linear;
  return {};
}

}  // namespace vernier::trt
