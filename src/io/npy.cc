#include "io/npy.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io/text_encoding.h"

namespace vernier {
namespace {

constexpr size_t kBlockBytes = size_t{192} << 10;

size_t AlignmentOf(DType dtype) {
  const int bits = BitsOf(dtype);
  if (Kind(dtype) == DTypeKind::kComplex) return static_cast<size_t>(bits) / 16;
  return std::max<size_t>(static_cast<size_t>(bits) / 8, 1);
}

bool IsAligned(const std::byte* data, size_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

// Column-major elements of `item` bytes, rewritten in row-major order.
void ToRowMajor(std::span<const std::byte> from, std::span<const int64_t> shape, size_t item,
                std::byte* to) {
  if (from.empty()) return;
  std::vector<size_t> stride(shape.size(), item);
  for (size_t axis = 1; axis < shape.size(); ++axis) {
    stride[axis] = stride[axis - 1] * static_cast<size_t>(shape[axis - 1]);
  }
  std::vector<int64_t> index(shape.size(), 0);
  const size_t last = shape.size() - 1;
  size_t offset = 0;
  for (size_t done = 0; done < from.size();) {
    for (int64_t i = 0; i < shape[last]; ++i, done += item) {
      std::memcpy(to + done, from.data() + offset + static_cast<size_t>(i) * stride[last], item);
    }
    for (size_t axis = last; axis-- > 0;) {
      offset += stride[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= stride[axis] * static_cast<size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
}

void ReverseBytes(std::span<std::byte> bytes, size_t unit) {
  for (size_t i = 0; i + unit <= bytes.size(); i += unit) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + unit));
  }
}

// Bytes of one number: half an element of the complex types, one character of strings.
size_t SwapUnit(const NpyHeader& header) {
  if (header.kind == 'U') return 4;
  if (header.kind == 'S' || header.kind == 'V') return 1;
  return static_cast<size_t>(header.kind == 'c' ? header.item_bytes / 2 : header.item_bytes);
}

void AppendText(const NpyHeader& header, std::span<const std::byte> item, std::string& text) {
  if (header.kind == 'S') {
    const std::string_view all(reinterpret_cast<const char*>(item.data()), item.size());
    text += all.substr(0, all.find_last_not_of('\0') + 1);
    return;
  }
  size_t count = item.size() / 4;
  const auto character = [&](size_t i) {
    char32_t c;
    std::memcpy(&c, item.data() + 4 * i, sizeof(c));
    return c;
  };
  while (count > 0 && character(count - 1) == 0) --count;
  for (size_t i = 0; i < count; ++i) AppendCodePoint(text, character(i));
}

// Builds the tensor's own layout at once: a string object for each of a hundred million elements of
// one byte would need far more memory than the file.
Result<Tensor> StringsFrom(const NpyHeader& header, std::span<const std::byte> data) {
  const auto count = static_cast<size_t>(*ElementCount(header.shape));
  const auto item = static_cast<size_t>(header.item_bytes);
  // Elements of no width: the data says nothing about their number, so it must not be trusted.
  if (item == 0 && count > 0) return Malformed("the npy file holds strings of no width");
  const auto layout = std::make_shared<std::string>((count + 1) * sizeof(int64_t), '\0');
  const size_t begin = layout->size();
  for (size_t i = 0; i < count; ++i) {
    AppendText(header, data.subspan(i * item, item), *layout);
    const auto end = static_cast<int64_t>(layout->size() - begin);
    std::memcpy(layout->data() + (i + 1) * sizeof(end), &end, sizeof(end));
  }
  const auto bytes = std::as_bytes(std::span(layout->data(), layout->size()));
  return Tensor::Wrap(DType::kString, header.shape, bytes, layout);
}

Result<Tensor> PackNibbles(DType dtype, const Dims& shape, std::span<const std::byte> data) {
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, shape));
  const std::span<std::byte> packed = buffer.bytes();
  for (size_t i = 0; i < packed.size(); ++i) {
    const std::byte high = 2 * i + 1 < data.size() ? data[2 * i + 1] : std::byte{0};
    packed[i] = (data[2 * i] & std::byte{15}) | (high << 4);
  }
  return std::move(buffer).Freeze();
}

Result<Tensor> FromNativeRowMajor(const NpyHeader& header, DType dtype,
                                  std::span<const std::byte> data) {
  if (dtype == DType::kString) return StringsFrom(header, data);
  if (BitsOf(dtype) == 4) return PackNibbles(dtype, header.shape, data);
  return Tensor::Copy(dtype, header.shape, data);
}

Status WriteNibbles(const Tensor& tensor, ByteSink& sink) {
  std::vector<std::byte> block;
  const auto count = static_cast<size_t>(tensor.element_count());
  for (size_t begin = 0; begin < count; begin += kBlockBytes) {
    block.clear();
    for (size_t i = begin; i < std::min(count, begin + kBlockBytes); ++i) {
      const std::byte pair = tensor.bytes()[i / 2];
      block.push_back(i % 2 == 0 ? pair & std::byte{15} : pair >> 4);
    }
    VERNIER_TRY(sink.Write(block));
  }
  return {};
}

uint64_t StringWidth(const Tensor& tensor) {
  uint64_t width = 1;
  if (tensor.dtype() != DType::kString) return width;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    width = std::max<uint64_t>(width, CountCodePoints(tensor.StringAt(i)));
  }
  return width;
}

Status WriteStrings(const Tensor& tensor, uint64_t width, ByteSink& sink) {
  std::vector<char32_t> block;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::string_view text = tensor.StringAt(i);
    const size_t begin = block.size();
    for (size_t position = 0; position < text.size();) {
      block.push_back(NextCodePoint(text, position));
    }
    block.resize(begin + static_cast<size_t>(width), 0);
    if (block.size() * sizeof(char32_t) < kBlockBytes) continue;
    VERNIER_TRY(sink.Write(std::as_bytes(std::span(block))));
    block.clear();
  }
  return sink.Write(std::as_bytes(std::span(block)));
}

}  // namespace

Result<uint64_t> NpyDataSize(const NpyHeader& header, uint64_t present) {
  const std::optional<int64_t> count = ElementCount(header.shape);
  uint64_t needed = 0;
  if (!count || __builtin_mul_overflow(static_cast<uint64_t>(*count), header.item_bytes, &needed)) {
    return Malformed("shape " + FormatDims(header.shape) + " of '" + header.TypeText() +
                     "' is too large");
  }
  if (needed > present) {
    return Malformed("shape " + FormatDims(header.shape) + " of '" + header.TypeText() +
                     "' needs " + std::to_string(needed) + " bytes, but the npy file holds " +
                     std::to_string(present));
  }
  return needed;
}

bool NpyIsDense(const NpyHeader& header, DType dtype) {
  const bool reordered = header.fortran_order && header.shape.size() > 1;
  const bool swapped = header.big_endian && SwapUnit(header) > 1;
  return !reordered && !swapped && dtype != DType::kString && BitsOf(dtype) != 4;
}

Result<Tensor> ReadNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                       std::optional<DType> stored_as) {
  VERNIER_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes));
  VERNIER_ASSIGN_OR_RETURN(const DType dtype, NpyElementType(header, stored_as));
  const auto offset = static_cast<size_t>(header.data_offset);
  VERNIER_ASSIGN_OR_RETURN(const uint64_t size, NpyDataSize(header, bytes.size() - offset));
  std::span<const std::byte> data = bytes.subspan(offset, static_cast<size_t>(size));
  if (NpyIsDense(header, dtype)) {
    if (owner == nullptr || !IsAligned(data.data(), AlignmentOf(dtype))) {
      return Tensor::Copy(dtype, header.shape, data);
    }
    return Tensor::Wrap(dtype, header.shape, data, std::move(owner));
  }
  std::vector<std::byte> converted;
  if (header.fortran_order && header.shape.size() > 1) {
    converted.resize(data.size());
    ToRowMajor(data, header.shape, static_cast<size_t>(header.item_bytes), converted.data());
    data = converted;
  }
  if (header.big_endian && SwapUnit(header) > 1) {
    if (converted.empty()) converted.assign(data.begin(), data.end());
    ReverseBytes(converted, SwapUnit(header));
    data = converted;
  }
  return FromNativeRowMajor(header, dtype, data);
}

bool NpyLosesType(DType dtype) { return NpyTypeText(dtype, 1).find('V') != std::string::npos; }

Status WriteNpy(const Tensor& tensor, ByteSink& sink) {
  const uint64_t width = StringWidth(tensor);
  VERNIER_TRY(sink.WriteText(FormatNpyHeader(NpyTypeText(tensor.dtype(), width), tensor.dims())));
  if (tensor.dtype() == DType::kString) return WriteStrings(tensor, width, sink);
  if (BitsOf(tensor.dtype()) == 4) return WriteNibbles(tensor, sink);
  return sink.Write(tensor.bytes());
}

Result<uint64_t> NpySize(const Tensor& tensor) {
  const uint64_t width = StringWidth(tensor);
  const size_t header = FormatNpyHeader(NpyTypeText(tensor.dtype(), width), tensor.dims()).size();
  uint64_t item = static_cast<uint64_t>(std::max(BitsOf(tensor.dtype()) / 8, 1));
  if (tensor.dtype() == DType::kString) item = width * 4;
  uint64_t size = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(tensor.element_count()), item, &size) ||
      __builtin_add_overflow(size, header, &size)) {
    return IoError("a tensor of shape " + FormatDims(tensor.dims()) + " is too large for npy");
  }
  return size;
}

}  // namespace vernier
