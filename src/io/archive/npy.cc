#include "io/archive/npy.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io/bytes/text_encoding.h"

namespace vernier {
namespace {

constexpr size_t kNpyBlockBytes = size_t{192} << 10;

// What NpyPreambleSize needs.
constexpr size_t kPreambleStart = 12;

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

// The elements of strings, character by character from wherever the blocks that are read end, so
// that neither the file nor one long element is ever in memory twice. Builds the tensor's own
// layout at once: a string object for each of a hundred million elements would need far more
// memory than the file. NUL characters at an element's end are padding.
class StringBuilder {
 public:
  StringBuilder(size_t count, uint64_t characters)
      : text_((count + 1) * sizeof(int64_t), '\0'), width_(characters) {}

  void Add(char32_t c, bool is_byte) {
    if (c == 0) {
      ++nuls_;
    } else {
      text_.append(static_cast<size_t>(std::exchange(nuls_, 0)), '\0');
      is_byte ? text_.push_back(static_cast<char>(c)) : AppendCodePoint(text_, c);
    }
    if (++column_ == width_) EndElement();
  }

  Result<Tensor> Finish(const Dims& shape) && {
    const auto layout = std::make_shared<const std::string>(std::move(text_));
    const auto bytes = std::as_bytes(std::span(layout->data(), layout->size()));
    return Tensor::Wrap(DType::kString, shape, bytes, layout);
  }

 private:
  void EndElement() {
    column_ = nuls_ = 0;
    const auto end = static_cast<int64_t>(text_.size() - begin_);
    std::memcpy(text_.data() + ++element_ * sizeof(end), &end, sizeof(end));
  }

  std::string text_;
  uint64_t width_;
  uint64_t begin_ = text_.size();
  uint64_t column_ = 0;
  uint64_t nuls_ = 0;
  size_t element_ = 0;
};

// Calls `use` with the elements, some at a time, as they are stored; each block holds whole
// numbers.
template <typename Use>
Status ForEachBlock(ByteSource& source, uint64_t size, const Use& use) {
  std::vector<std::byte> block(static_cast<size_t>(std::min<uint64_t>(size, kNpyBlockBytes)));
  for (uint64_t done = 0; done < size; done += block.size()) {
    block.resize(static_cast<size_t>(std::min<uint64_t>(size - done, kNpyBlockBytes)));
    VERNIER_TRY(source.Read(block));
    use(std::span(block));
  }
  return {};
}

Result<Tensor> ReadStrings(const NpyHeader& header, ByteSource& source, uint64_t size) {
  const auto count = static_cast<size_t>(*ElementCount(header.shape));
  // Elements of no width: the data says nothing about their number, so it must not be trusted.
  if (header.item_bytes == 0 && count > 0) {
    return Malformed("the npy file holds strings of width 0");
  }
  const bool is_byte = header.kind == 'S';
  const size_t unit = is_byte ? 1 : sizeof(char32_t);
  StringBuilder builder(count, header.item_bytes / unit);
  VERNIER_TRY(ForEachBlock(source, size, [&](std::span<std::byte> block) {
    if (header.big_endian && !is_byte) ReverseBytes(block, unit);
    for (size_t i = 0; i + unit <= block.size(); i += unit) {
      char32_t c = 0;
      std::memcpy(&c, block.data() + i, unit);
      builder.Add(c, is_byte);
    }
  }));
  return std::move(builder).Finish(header.shape);
}

// One byte an element, the value in its low half.
Status ReadNibbles(ByteSource& source, uint64_t size, std::span<std::byte> packed) {
  std::fill(packed.begin(), packed.end(), std::byte{0});
  size_t element = 0;
  return ForEachBlock(source, size, [&](std::span<std::byte> block) {
    for (const std::byte byte : block) {
      const std::byte low = byte & std::byte{15};
      packed[element / 2] |= element % 2 == 0 ? low : low << 4;
      ++element;
    }
  });
}

// The stored bytes with rows in place of columns, as plain bytes.
Result<Tensor> ReorderColumns(const NpyHeader& header, ByteSource& source, uint64_t size,
                              TensorPool* pool) {
  const Dims flat = {static_cast<int64_t>(size)};
  VERNIER_ASSIGN_OR_RETURN(const Tensor columns,
                           MakeTensor(pool, DType::kUint8, flat,
                                      [&](std::span<std::byte> out) { return source.Read(out); }));
  return MakeTensor(pool, DType::kUint8, flat, [&](std::span<std::byte> out) {
    ToRowMajor(columns.bytes(), header.shape, static_cast<size_t>(header.item_bytes), out.data());
    return Status();
  });
}

Result<Tensor> ReadRowMajor(const NpyHeader& header, DType dtype, ByteSource& source, uint64_t size,
                            TensorPool* pool) {
  if (dtype == DType::kString) return ReadStrings(header, source, size);
  const auto fill = [&](std::span<std::byte> out) -> Status {
    if (BitsOf(dtype) == 4) return ReadNibbles(source, size, out);
    VERNIER_TRY(source.Read(out));
    if (header.big_endian && SwapUnit(header) > 1) ReverseBytes(out, SwapUnit(header));
    return {};
  };
  return MakeTensor(pool, dtype, header.shape, fill);
}

Status WriteNibbles(const Tensor& tensor, ByteSink& sink) {
  std::vector<std::byte> block;
  const auto count = static_cast<size_t>(tensor.element_count());
  for (size_t begin = 0; begin < count; begin += kNpyBlockBytes) {
    block.clear();
    for (size_t i = begin; i < std::min(count, begin + kNpyBlockBytes); ++i) {
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
    if (block.size() * sizeof(char32_t) < kNpyBlockBytes) continue;
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

Result<Tensor> ReadNpy(ByteSource& source, TensorPool* pool, std::optional<DType> stored_as) {
  std::vector<std::byte> start(
      static_cast<size_t>(std::min<uint64_t>(source.remaining(), kPreambleStart)));
  VERNIER_TRY(source.Read(start));
  VERNIER_ASSIGN_OR_RETURN(const uint64_t preamble, NpyPreambleSize(start));
  if (preamble > start.size()) {
    const size_t more =
        static_cast<size_t>(std::min<uint64_t>(preamble - start.size(), source.remaining()));
    start.resize(start.size() + more);
    VERNIER_TRY(source.Read(std::span(start).last(more)));
  }
  VERNIER_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(start));
  VERNIER_ASSIGN_OR_RETURN(const DType dtype, NpyElementType(header, stored_as));
  VERNIER_ASSIGN_OR_RETURN(const uint64_t size, NpyDataSize(header, source.remaining()));
  if (!header.fortran_order || header.shape.size() < 2) {
    return ReadRowMajor(header, dtype, source, size, pool);
  }
  VERNIER_ASSIGN_OR_RETURN(const Tensor rows, ReorderColumns(header, source, size, pool));
  MemorySource reordered(rows.bytes());
  return ReadRowMajor(header, dtype, reordered, size, pool);
}

Result<Tensor> ReadNpy(std::span<const std::byte> bytes, std::optional<DType> stored_as) {
  MemorySource source(bytes);
  return ReadNpy(source, nullptr, stored_as);
}

std::optional<uint64_t> NpySizeFromStart(std::span<const std::byte> start) {
  const Result<uint64_t> preamble = NpyPreambleSize(start);
  if (!preamble.ok() || *preamble > start.size()) return std::nullopt;
  const Result<NpyHeader> header = ParseNpyHeader(start);
  if (!header.ok()) return std::nullopt;
  constexpr uint64_t kAny = uint64_t{1} << 62;
  const Result<uint64_t> size = NpyDataSize(*header, kAny);
  return size.ok() ? std::optional(*preamble + *size) : std::nullopt;
}

bool NpyLosesType(DType dtype) { return NpyTypeText(dtype, 1).find('V') != std::string::npos; }

Status WriteNpy(const Tensor& tensor, ByteSink& sink) {
  const uint64_t width = StringWidth(tensor);
  VERNIER_TRY(sink.WriteText(FormatNpyHeader(NpyTypeText(tensor.dtype(), width), tensor.dims())));
  if (tensor.dtype() == DType::kString) return WriteStrings(tensor, width, sink);
  if (BitsOf(tensor.dtype()) == 4) return WriteNibbles(tensor, sink);
  return sink.Write(tensor.bytes());
}

}  // namespace vernier
