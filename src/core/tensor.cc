#include "vernier/tensor.h"

#include <cstring>
#include <new>

#include "core/memory_limit.h"

namespace vernier {
namespace {

constexpr size_t kAlignment = 64;

Status CheckStrings(std::span<const std::byte> bytes, int64_t count) {
  const uint64_t header = (static_cast<uint64_t>(count) + 1) * sizeof(int64_t);
  if (static_cast<uint64_t>(count) > bytes.size() || bytes.size() < header) {
    return Malformed("a string tensor is too short for its " + std::to_string(count) + " offsets");
  }
  int64_t previous = 0;
  for (int64_t i = 0; i <= count; ++i) {
    int64_t offset;
    std::memcpy(&offset, bytes.data() + static_cast<size_t>(i) * sizeof(offset), sizeof(offset));
    const bool in_range =
        offset >= previous && static_cast<uint64_t>(offset) <= bytes.size() - header;
    if (!in_range || (i == 0 && offset != 0)) {
      return Malformed("offset " + std::to_string(i) + " of a string tensor is " +
                       std::to_string(offset) + ", which is out of range or out of order");
    }
    previous = offset;
  }
  return {};
}

Status CheckSize(DType dtype, std::span<const int64_t> dims, std::span<const std::byte> bytes) {
  const std::optional<int64_t> count = ElementCount(dims);
  if (!count) return Malformed("shape " + FormatDims(dims) + " is negative or too large");
  if (dtype == DType::kString) return CheckStrings(bytes, *count);
  const std::optional<uint64_t> expected = ByteSize(dtype, static_cast<uint64_t>(*count));
  if (!expected || *expected != bytes.size()) {
    return Malformed("a tensor of type " + std::string(DTypeName(dtype)) + " and shape " +
                     FormatDims(dims) + " needs " +
                     (expected ? std::to_string(*expected) : std::string("no fixed number of")) +
                     " bytes, but has " + std::to_string(bytes.size()));
  }
  return {};
}

std::shared_ptr<std::byte> AllocateAligned(size_t size) {
  if (size > MemoryLimit()) return nullptr;
  auto* data = static_cast<std::byte*>(
      ::operator new (size > 0 ? size : 1, std::align_val_t{kAlignment}, std::nothrow));
  if (data == nullptr) return nullptr;
  return {data, [](std::byte* p) { ::operator delete (p, std::align_val_t{kAlignment}); }};
}

}  // namespace

std::optional<int64_t> ElementCount(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    empty |= dim == 0;
    overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (empty) return 0;
  if (overflow) return std::nullopt;
  return count;
}

std::string FormatDims(std::span<const int64_t> dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + (dims.size() == 1 ? ",)" : ")");
}

std::string FormatShape(const std::optional<std::vector<Dim>>& shape) {
  if (!shape) return "None";
  std::string text = "(";
  for (size_t i = 0; i < shape->size(); ++i) {
    if (i > 0) text += ", ";
    const Dim& dim = (*shape)[i];
    text +=
        dim.dynamic() && !dim.symbol.empty() ? "'" + dim.symbol + "'" : std::to_string(dim.value);
  }
  return text + (shape->size() == 1 ? ",)" : ")");
}

Result<Tensor> Tensor::Wrap(DType dtype, Dims dims, std::span<const std::byte> bytes,
                            std::shared_ptr<const void> owner) {
  VERNIER_TRY(CheckSize(dtype, dims, bytes));
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.count_ = *ElementCount(dims);
  tensor.dims_ = std::move(dims);
  tensor.bytes_ = bytes;
  tensor.owner_ = std::move(owner);
  return tensor;
}

Result<Tensor> Tensor::WrapShared(DType dtype, Dims dims, std::span<const std::byte> bytes,
                                  std::shared_ptr<const SharedMemory> memory) {
  VERNIER_ASSIGN_OR_RETURN(Tensor tensor, Wrap(dtype, std::move(dims), bytes, memory));
  tensor.memory_ = std::move(memory);
  return tensor;
}

Result<Tensor> Tensor::Copy(DType dtype, Dims dims, std::span<const std::byte> bytes) {
  VERNIER_TRY(CheckSize(dtype, dims, bytes));
  std::shared_ptr<std::byte> data = AllocateAligned(bytes.size());
  if (data == nullptr) return Internal("out of memory: " + std::to_string(bytes.size()) + " bytes");
  if (!bytes.empty()) std::memcpy(data.get(), bytes.data(), bytes.size());
  const std::span<const std::byte> view(data.get(), bytes.size());
  return Wrap(dtype, std::move(dims), view, std::move(data));
}

Result<Tensor> Tensor::FromStrings(Dims dims, std::span<const std::string> values) {
  // What is too much would be read as text of the last value.
  if (ElementCount(dims) != std::optional(static_cast<int64_t>(values.size()))) {
    return Malformed(std::to_string(values.size()) + " strings do not fill the shape " +
                     FormatDims(dims));
  }
  std::vector<std::byte> bytes((values.size() + 1) * sizeof(int64_t));
  int64_t offset = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& value = values[i];
    const auto* first = reinterpret_cast<const std::byte*>(value.data());
    bytes.insert(bytes.end(), first, first + value.size());
    offset += static_cast<int64_t>(value.size());
    std::memcpy(bytes.data() + (i + 1) * sizeof(offset), &offset, sizeof(offset));
  }
  return Copy(DType::kString, std::move(dims), bytes);
}

std::string_view Tensor::StringAt(int64_t index) const {
  int64_t range[2];
  std::memcpy(range, bytes_.data() + static_cast<size_t>(index) * sizeof(int64_t), sizeof(range));
  const auto* text = reinterpret_cast<const char*>(bytes_.data()) +
                     (static_cast<size_t>(count_) + 1) * sizeof(int64_t);
  return {text + range[0], static_cast<size_t>(range[1] - range[0])};
}

Result<Tensor> Tensor::Reshaped(Dims dims) const {
  if (ElementCount(dims) != std::optional(count_)) {
    return Malformed("shape " + FormatDims(dims_) + " cannot be viewed as " + FormatDims(dims));
  }
  Tensor tensor = *this;
  tensor.dims_ = std::move(dims);
  return tensor;
}

Result<TensorBuffer> TensorBuffer::Allocate(DType dtype, Dims dims) {
  const std::optional<int64_t> count = ElementCount(dims);
  const std::optional<uint64_t> size =
      count ? ByteSize(dtype, static_cast<uint64_t>(*count)) : std::nullopt;
  if (!size) {
    return Malformed("a tensor of type " + std::string(DTypeName(dtype)) + " and shape " +
                     FormatDims(dims) + " has no representable size");
  }
  TensorBuffer buffer;
  buffer.data_ = AllocateAligned(*size);
  if (buffer.data_ == nullptr) {
    return Internal("out of memory: " + std::to_string(*size) + " bytes");
  }
  buffer.dtype_ = dtype;
  buffer.dims_ = std::move(dims);
  buffer.count_ = *count;
  buffer.size_ = *size;
  return buffer;
}

Tensor TensorBuffer::Freeze() && {
  const std::span<const std::byte> view(data_.get(), size_);
  // The size was checked when the memory was allocated.
  return *Tensor::Wrap(dtype_, std::move(dims_), view, std::move(data_));
}

const Tensor* Find(const TensorMap& map, std::string_view name) {
  for (const NamedTensor& entry : map) {
    if (entry.name == name) return &entry.tensor;
  }
  return nullptr;
}

}  // namespace vernier
