// Tensors: immutable, cheap to copy (copies share the bytes), always C-contiguous. All functions
// here may be called from any thread; a Tensor may be read by several threads at once.
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

/// Concrete sizes, outermost first, in elements. Empty means a scalar.
using Dims = std::vector<int64_t>;

/// The number of elements: 1 for a scalar, 0 if any dimension is 0 (even if the product of the
/// others overflows). nullopt if a dimension is negative or the product does not fit int64_t.
std::optional<int64_t> ElementCount(std::span<const int64_t> dims);

/// One dimension of a signature: a size, or dynamic (value -1) with an optional symbolic name.
struct Dim {
  int64_t value = -1;
  std::string symbol;

  bool dynamic() const { return value < 0; }
  bool operator==(const Dim&) const = default;
};

/// Name, type and shape of an input or output as a model declares it. kUndefined means an
/// undeclared type; a missing `shape` means an unknown rank; an empty one means a scalar.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kUndefined;
  std::optional<std::vector<Dim>> shape;
};

/// "(2, 3)", "(1,)", "()": Python's spelling of a tuple, as in Polygraphy's log lines.
std::string FormatDims(std::span<const int64_t> dims);

/// "('batch', 3)", "(-1, 3)": symbolic dimensions in quotes, unnamed dynamic ones as -1.
/// "None" for an unknown rank. A symbol is not escaped.
std::string FormatShape(const std::optional<std::vector<Dim>>& shape);

/// An immutable tensor. Its layout:
/// - numbers: dense, C order, in the byte order of the machine. 4-bit types pack two elements into
/// a
///   byte, the first one in the low nibble. bool takes one byte. Without elements there are no
///   bytes.
/// - DType::kString: Arrow's layout in one buffer, count + 1 int64_t offsets, then the UTF-8 bytes
///   that they delimit. The UTF-8 is not validated.
///
/// A default-constructed Tensor has type kUndefined, no dimensions, no elements and no bytes.
class Tensor {
 public:
  Tensor() = default;

  /// Refers to `bytes`, without a copy. `owner` keeps them alive (null: the caller does) and
  /// is released with the last copy of the tensor, on that thread. The bytes must not change.
  /// kMalformed if the size does not match dtype and dims, if dims are negative or too large, or
  /// if string offsets are out of order or out of range. Alignment is not checked; see As().
  static Result<Tensor> Wrap(DType dtype, Dims dims, std::span<const std::byte> bytes,
                             std::shared_ptr<const void> owner);

  /// As Wrap(), for bytes within `memory`, which other processes can map: see memory().
  static Result<Tensor> WrapShared(DType dtype, Dims dims, std::span<const std::byte> bytes,
                                   std::shared_ptr<const SharedMemory> memory);

  /// Copies `bytes` into memory aligned to 64 bytes. The same errors as Wrap(); kInternal if there
  /// is not enough memory.
  static Result<Tensor> Copy(DType dtype, Dims dims, std::span<const std::byte> bytes);

  /// A string tensor of the given values, in C order. kMalformed unless there are as many values as
  /// dims have elements; kInternal if there is not enough memory.
  static Result<Tensor> FromStrings(Dims dims, std::span<const std::string> values);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t element_count() const { return count_; }
  /// Valid as long as this tensor or a copy of it lives.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// The shared memory that holds the bytes; null if they are private to this process.
  const std::shared_ptr<const SharedMemory>& memory() const { return memory_; }

  /// The elements as T. Unchecked: T must have the element's size, the bytes must be aligned for T
  /// (always so after Copy() and TensorBuffer), and the type must not be packed or a string.
  template <typename T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(count_)};
  }

  /// Element `index`, in C order, of a string tensor. Unchecked: 0 <= index < element_count().
  /// Valid as long as bytes().
  std::string_view StringAt(int64_t index) const;

  /// The same bytes under other dimensions, shared. kMalformed if the volumes differ.
  Result<Tensor> Reshaped(Dims dims) const;

 private:
  DType dtype_ = DType::kUndefined;
  Dims dims_;
  int64_t count_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const SharedMemory> memory_;
};

/// Memory for a tensor under construction. Aligned to 64 bytes, not zeroed. Copies share it.
class TensorBuffer {
 public:
  /// kMalformed if the size overflows, a dimension is negative, or the dtype has no fixed size
  /// (strings, kUndefined); kInternal if there is not enough memory.
  static Result<TensorBuffer> Allocate(DType dtype, Dims dims);

  std::span<std::byte> bytes() { return {data_.get(), size_}; }
  /// As Tensor::As(): T must have the element's size; not for packed types.
  template <typename T>
  std::span<T> As() {
    return {reinterpret_cast<T*>(data_.get()), static_cast<size_t>(count_)};
  }
  /// The finished tensor, without a copy. The buffer must not be used afterwards, nor spans of it
  /// written to.
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

/// Tensors by name, in the order of the runner or file, which is significant.
using TensorMap = std::vector<NamedTensor>;

/// The first tensor with exactly that name, or nullptr. Linear; valid until the map changes.
const Tensor* Find(const TensorMap& map, std::string_view name);

/// The outputs of one runner for one feed.
struct IterationResult {
  std::string runner_name;
  std::optional<double> runtime_s;  ///< wall-clock seconds of the inference call, if known
  TensorMap outputs;
};

}  // namespace vernier
