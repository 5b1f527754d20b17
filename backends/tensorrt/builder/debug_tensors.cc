#include "tensorrt/builder/debug_tensors.h"

#include <algorithm>
#include <set>
#include <string>

#include "tensorrt/library/option_list.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_version.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {

Status MarkUnfusedTensors(nvinfer1::INetworkDefinition& network, const sdk::Options& options) {
  if (!IsOn(options, "mark_unfused_tensors_as_debug_tensors")) return {};
  return [](auto& each) -> Status {
    if constexpr (requires { each.markUnfusedTensorsAsDebugTensors(); }) {
      if (each.markUnfusedTensorsAsDebugTensors()) return {};
      return BackendError("TensorRT refused --mark-unfused-tensors-as-debug-tensors");
    }
    return NotInThisRelease("--mark-unfused-tensors-as-debug-tensors");
  }(network);
}

#if VERNIER_TRT_AT_LEAST(10, 0)
namespace {

class Listener final : public DebugTensors, public nvinfer1::IDebugListener {
 public:
  Listener(const CudaDevice& device, Logger& logger) : device_(device), logger_(logger) {}

  // Called between the kernels of an inference, on the thread that started it.
  bool processDebugTensor(const void* address, nvinfer1::TensorLocation location,
                          nvinfer1::DataType type, const nvinfer1::Dims& shape, const char* name,
                          cudaStream_t stream) noexcept override {
    sdk::OutputTensor tensor;
    tensor.name = name;
    tensor.dtype = DTypeOf(static_cast<int32_t>(type));
    tensor.shape.assign(shape.d, shape.d + std::max(shape.nbDims, 0));
    size_t count = 1;
    for (const int64_t extent : tensor.shape) count *= static_cast<size_t>(extent);
    if (tensor.dtype == DType::kUndefined) {
      if (warned_.insert(tensor.name).second) {
        logger_.host().Warning("Debug tensor '" + tensor.name + "' has a type that is not read: " +
                               std::to_string(static_cast<int32_t>(type)));
      }
      return true;
    }
    tensor.byte_size = static_cast<size_t>(ByteSize(tensor.dtype, count).value_or(0));
    const auto bytes = std::make_shared<std::vector<std::byte>>(tensor.byte_size);
    if (Status copied = Copy(address, location, *bytes, reinterpret_cast<cuda::Stream>(stream));
        !copied.ok()) {
      failure_ = std::move(copied);
      return false;
    }
    tensor.data = bytes->data();
    tensor.keep_alive = bytes;
    Keep(std::move(tensor));
    return true;
  }

  Result<std::vector<sdk::OutputTensor>> Take() override {
    VERNIER_TRY(std::exchange(failure_, Status()));
    return std::exchange(tensors_, {});
  }

 private:
  Status Copy(const void* address, nvinfer1::TensorLocation location, std::span<std::byte> to,
              cuda::Stream stream) const {
    if (location == nvinfer1::TensorLocation::kHOST) {
      const auto* from = static_cast<const std::byte*>(address);
      std::copy(from, from + to.size(), to.begin());
      return {};
    }
    VERNIER_TRY(device_.CopyToHost(to.data(), reinterpret_cast<cuda::DevicePointer>(address),
                                   to.size(), stream));
    return device_.Synchronize(stream);
  }

  void Keep(sdk::OutputTensor tensor) {
    const auto same = std::find_if(tensors_.begin(), tensors_.end(),
                                   [&](const auto& each) { return each.name == tensor.name; });
    if (same != tensors_.end()) {
      *same = std::move(tensor);
    } else {
      tensors_.push_back(std::move(tensor));
    }
  }

  const CudaDevice& device_;
  Logger& logger_;
  std::vector<sdk::OutputTensor> tensors_;
  std::set<std::string> warned_;
  Status failure_;
};

}  // namespace

std::unique_ptr<DebugTensors> DebugTensors::Listen(nvinfer1::IExecutionContext& context,
                                                   const CudaDevice& device, Logger& logger) {
  auto listener = std::make_unique<Listener>(device, logger);
  // As Polygraphy does: false where the engine has none.
  (void)context.setAllTensorsDebugState(true);
  if (!context.setDebugListener(listener.get())) return nullptr;
  return listener;
}
#else
std::unique_ptr<DebugTensors> DebugTensors::Listen(nvinfer1::IExecutionContext&, const CudaDevice&,
                                                   Logger&) {
  return nullptr;
}
#endif

}  // namespace vernier::trt
