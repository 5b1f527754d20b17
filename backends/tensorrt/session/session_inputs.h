// The inputs of an engine: from the host's tensors to where TensorRT reads them. Those of the next
// inference go to the device while this one computes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensorrt/engine/engine_tensors.h"
#include "tensorrt/engine/tensor_layout.h"
#include "tensorrt/library/cuda_device.h"
#include "tensorrt/library/trt_library.h"
#include "vernier/backend_sdk.hpp"

namespace vernier::trt {

/// Of one execution context. All of it in the device's context, but for the last reference to
/// memory.
class SessionInputs {
 public:
  /// `context` must outlive it; inputs are copied on `stream`, which is the caller's.
  SessionInputs(const Shared& shared, nvinfer1::IExecutionContext& context, cuda::Stream stream)
      : shared_(shared), context_(context), stream_(stream) {}

  /// Once for each input, before anything else.
  void Add(EngineTensor tensor);
  /// What the session names as its inputs, in the order of Add().
  std::span<const sdk::TensorSpec> specs() const { return specs_; }
  /// May tensors of the device be inputs, too? VN_FEEDS_BACK_*.
  uint32_t FeedsBack() const;

  /// Gives TensorRT shapes and memory for an inference, and copies what is not there yet.
  /// kInvalidArgument where one is missing or does not fit, kBackend where TensorRT refuses it.
  Status Take(std::span<const vn_tensor* const> inputs);
  /// Are these the shapes that TensorRT was given last?
  bool HaveShapesOf(std::span<const vn_tensor* const> inputs) const;
  /// Has TensorRT been given another shape since this was asked last?
  bool TakeShapeChange();

  /// Copies the inputs of the next inference beside those of the present one. False where they
  /// cannot be: then none is sent ahead any more, and Take() copies them.
  bool Send(std::span<const vn_tensor* const> next);
  bool sends() const { return sends_; }
  void StopSending() { sends_ = false; }

  /// Adds the addresses and shapes that TensorRT was given to what a recording is known by. False
  /// where there is none, since host memory is read while TensorRT enqueues.
  bool AddToKey(std::string& key) const;

  /// Ends its stream, in the device's context.
  void End();

 private:
  // An input whose elements do not lie in their linear order.
  using Layout = std::optional<TensorLayout>;
  // Where an input lies for an inference.
  struct Place {
    std::shared_ptr<cuda::DeviceMemory> buffer;  ///< only ever grows
    std::shared_ptr<std::byte> pinned;           ///< a small input on its way to the device
    size_t pinned_size = 0;
  };
  struct Input {
    std::string name;
    bool host = false;    ///< see EngineTensor
    bool narrow = false;  ///< the same
    Layout layout;
    Place now, next;
    std::vector<std::byte> host_bytes;
    std::optional<std::vector<int64_t>> shape;  ///< that TensorRT was given last
    const void* address = nullptr;              ///< the same, of the device's memory

    bool as_it_is() const { return !host && !narrow && !layout; }
  };

  Status Set(Input& input, const vn_tensor& tensor);
  Status SetShape(Input& input, const vn_tensor& tensor);
  Status SetAddress(Input& input, void* address);
  Status SetFedBack(Input& input, const vn_tensor& tensor);
  Status Copy(Place& place, const void* bytes, size_t size, cuda::Stream stream);
  Status CopyNext(std::span<const vn_tensor* const> next);

  Shared shared_;
  nvinfer1::IExecutionContext& context_;
  cuda::Stream stream_;
  std::vector<Input> inputs_;
  std::vector<sdk::TensorSpec> specs_;
  bool shape_changed_ = true;
  cuda::Stream next_stream_ = nullptr;
  cuda::Event copied_ = nullptr;
  bool sends_ = true;
  bool sent_ = false;  ///< the next ones are in their places, or on their way there
};

}  // namespace vernier::trt
