// Tensors: immutable once made, cheap to copy (the bytes are shared), always C-contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/dtype.h"
#include "vernier/status.h"

namespace vernier {

class SharedMemory;

/// Concrete dimensions. Empty means a scalar.
using Dims = std::vector<int64_t>;

/// Number of elements: 1 for a scalar. nullopt when a dimension is negative or the product does
/// not fit int64_t.
std::optional<int64_t> ElementCount(std::span<const int64_t> dims);

/// One dimension of a signature: a size, or dynamic (value -1) with an optional symbolic name.
struct Dim {
  int64_t value = -1;
  std::string symbol;

  bool dynamic() const { return value < 0; }
  bool operator==(const Dim&) const = default;
};

/// Name, type and shape of an input or output as a model declares it. A missing `shape` is an
/// unknown rank.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kUndefined;
  std::optional<std::vector<Dim>> shape;
};

/// "(2, 3)", "(1,)", "()": Python's spelling of a tuple, which the peer's log lines use.
std::string FormatDims(std::span<const int64_t> dims);

/// "('batch', 3)", "(-1, 3)": symbolic dimensions in quotes, nameless dynamic ones as -1;
/// "None" for an unknown rank.
std::string FormatShape(const std::optional<std::vector<Dim>>& shape);

/// An immutable tensor. Strings (DType::kString) use Arrow's layout in one buffer: count + 1
/// int64_t offsets, then the UTF-8 bytes that they delimit.
class Tensor {
 public:
  Tensor() = default;

  /// Wraps `bytes`, which `owner` keeps alive. kMalformed when the size does not fit dtype and
  /// dims, or when string offsets are out of order or out of range.
  static Result<Tensor> Wrap(DType dtype, Dims dims, std::span<const std::byte> bytes,
                             std::shared_ptr<const void> owner);

  /// The same, of bytes in memory that other processes can map.
  static Result<Tensor> WrapShared(DType dtype, Dims dims, std::span<const std::byte> bytes,
                                   std::shared_ptr<const SharedMemory> memory);

  /// A copy of `bytes`; the same checks as Wrap.
  static Result<Tensor> Copy(DType dtype, Dims dims, std::span<const std::byte> bytes);

  /// A string tensor of the given values.
  static Result<Tensor> FromStrings(Dims dims, std::span<const std::string> values);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t element_count() const { return count_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Where the bytes lie; null: in memory of this process alone.
  const std::shared_ptr<const SharedMemory>& memory() const { return memory_; }

  /// The elements as T. T's size must be the element's; not for packed types and strings.
  template <typename T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(count_)};
  }

  /// Element `index` of a string tensor.
  std::string_view StringAt(int64_t index) const;

  /// The same bytes under other dimensions. kMalformed when the volumes differ.
  Result<Tensor> Reshaped(Dims dims) const;

 private:
  DType dtype_ = DType::kUndefined;
  Dims dims_;
  int64_t count_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const SharedMemory> memory_;
};

/// Memory for a tensor that is being filled. Aligned to 64 bytes, not zeroed.
class TensorBuffer {
 public:
  /// kMalformed when the size overflows or the dtype has no fixed size; kInternal when memory
  /// cannot be had.
  static Result<TensorBuffer> Allocate(DType dtype, Dims dims);

  std::span<std::byte> bytes() { return {data_.get(), size_}; }
  template <typename T>
  std::span<T> As() {
    return {reinterpret_cast<T*>(data_.get()), static_cast<size_t>(count_)};
  }
  Tensor Freeze() &&;

 private:
  DType dtype_ = DType::kUndefined;
  Dims dims_;
  int64_t count_ = 0;
  size_t size_ = 0;
  std::shared_ptr<std::byte> data_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Tensors by name, in the runner's or file's order, which is significant.
using TensorMap = std::vector<NamedTensor>;

/// The tensor of that exact name, or nullptr.
const Tensor* Find(const TensorMap& map, std::string_view name);

/// What one runner produced for one feed.
struct IterationResult {
  std::string runner_name;
  std::optional<double> runtime_s;  ///< wall clock of the inference call, seconds
  TensorMap outputs;
};

}  // namespace vernier
