// An output of an engine: the memory that TensorRT writes it to, and the host's copy of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorrt/session/trt_session.h"

namespace vernier::trt {

// TensorRT asks for memory when it knows how much an output needs, and gives its shape. There are
// two memories, which take turns where the last inference's output is still read.
class TrtSession::Output final : public nvinfer1::IOutputAllocator {
 public:
  /// All of `session`'s outputs end before it does.
  Output(std::string output_name, int32_t output_type, Layout output_layout, TrtSession& owner)
      : name(std::move(output_name)), type(output_type), layout(output_layout), session_(owner) {}

  void* reallocateOutput(const char*, void*, uint64_t size, uint64_t) noexcept override;
  void notifyShape(const char*, const nvinfer1::Dims& dims) noexcept override;

  /// Pinned memory of the host for so many bytes, which no tensor uses.
  Result<std::shared_ptr<std::byte>> TakePinned(size_t size);

  const std::string name;
  const int32_t type;
  const Layout layout;
  std::shared_ptr<cuda::DeviceMemory> buffer;  ///< of the inference that was launched last
  std::vector<int64_t> shape;                  ///< the same
  Status failure;                              ///< of its memory

 private:
  struct Pinned {
    std::shared_ptr<std::byte> memory;
    size_t size = 0;
  };

  TrtSession& session_;
  std::shared_ptr<cuda::DeviceMemory> other_;
  Pinned pinned_, other_pinned_;
};

}  // namespace vernier::trt
