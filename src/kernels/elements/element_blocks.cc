#include "kernels/elements/element_blocks.h"

#include <cstring>
#include <string_view>
#include <type_traits>

#include "kernels/elements/float_formats.h"

namespace vernier {
namespace {

constexpr DType DTypeOf(float) { return DType::kFloat32; }
constexpr DType DTypeOf(double) { return DType::kFloat64; }
constexpr DType DTypeOf(int64_t) { return DType::kInt64; }
constexpr DType DTypeOf(uint64_t) { return DType::kUint64; }
constexpr DType DTypeOf(std::complex<double>) { return DType::kComplex128; }

// memcpy because mapped files promise no alignment.
template <typename Stored, typename T>
void Convert(const std::byte* from, size_t n, T* out) {
  for (size_t i = 0; i < n; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<T>(value);
  }
}

template <typename Stored, typename T, typename Function>
void Map(const std::byte* from, size_t n, T* out, Function function) {
  for (size_t i = 0; i < n; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<T>(function(value));
  }
}

// Packed types start at any element, so at either nibble.
template <typename T, typename Function>
void MapNibbles(const ElementSpan& elements, int64_t start, size_t n, T* out, Function function) {
  for (size_t i = 0; i < n; ++i) {
    const auto index = static_cast<size_t>(start) + i;
    const auto byte = std::to_integer<unsigned>(elements.bytes[index / 2]);
    out[i] = static_cast<T>(function((byte >> (4 * (index % 2))) & 0xfu));
  }
}

template <typename T>
bool ConvertIntegers(const ElementSpan& elements, int64_t start, size_t n, T* out) {
  const std::byte* base = elements.bytes.data();
  const auto first = static_cast<size_t>(start);
  switch (elements.dtype) {
    case DType::kBool:
      Map<uint8_t>(base + first, n, out, [](uint8_t v) { return v != 0; });
      break;
    case DType::kInt8:
      Convert<int8_t>(base + first, n, out);
      break;
    case DType::kUint8:
      Convert<uint8_t>(base + first, n, out);
      break;
    case DType::kInt16:
      Convert<int16_t>(base + first * 2, n, out);
      break;
    case DType::kUint16:
      Convert<uint16_t>(base + first * 2, n, out);
      break;
    case DType::kInt32:
      Convert<int32_t>(base + first * 4, n, out);
      break;
    case DType::kUint32:
      Convert<uint32_t>(base + first * 4, n, out);
      break;
    case DType::kInt64:
      Convert<int64_t>(base + first * 8, n, out);
      break;
    case DType::kUint64:
      Convert<uint64_t>(base + first * 8, n, out);
      break;
    case DType::kUint4:
      MapNibbles(elements, start, n, out, [](unsigned v) { return v; });
      break;
    case DType::kInt4:
      MapNibbles(elements, start, n, out, [](unsigned v) { return static_cast<int>(v ^ 8u) - 8; });
      break;
    default:
      return false;
  }
  return true;
}

template <typename T>
bool ConvertFloats(const ElementSpan& elements, int64_t start, size_t n, T* out) {
  const std::byte* base = elements.bytes.data();
  const auto first = static_cast<size_t>(start);
  const float* table = SmallFloatTable(elements.dtype);
  switch (elements.dtype) {
    case DType::kFloat32:
      Convert<float>(base + first * 4, n, out);
      break;
    case DType::kFloat64:
      Convert<double>(base + first * 8, n, out);
      break;
    case DType::kFloat16:
      Map<uint16_t>(base + first * 2, n, out, HalfToFloat);
      break;
    case DType::kBFloat16:
      Map<uint16_t>(base + first * 2, n, out, BFloat16ToFloat);
      break;
    case DType::kFloat4E2M1:
      MapNibbles(elements, start, n, out, [table](unsigned v) { return table[v]; });
      break;
    default:
      if (table == nullptr) return false;
      Map<uint8_t>(base + first, n, out, [table](uint8_t v) { return table[v]; });
  }
  return true;
}

bool ConvertComplex(const ElementSpan& elements, int64_t start, size_t n,
                    std::complex<double>* out) {
  const std::byte* base = elements.bytes.data();
  const auto first = static_cast<size_t>(start);
  switch (elements.dtype) {
    case DType::kComplex64:
      Convert<std::complex<float>>(base + first * 8, n, out);
      return true;
    case DType::kComplex128:
      Convert<std::complex<double>>(base + first * 16, n, out);
      return true;
    default:
      break;
  }
  double real[kBlockSize];
  for (size_t done = 0; done < n; done += kBlockSize) {
    const size_t part = n - done < kBlockSize ? n - done : kBlockSize;
    const double* values =
        LoadBlock<double>(elements, start + static_cast<int64_t>(done), part, real);
    for (size_t i = 0; i < part; ++i) out[done + i] = values[i];
  }
  return true;
}

}  // namespace

Arithmetic NaturalArithmetic(DType dtype) {
  switch (Kind(dtype)) {
    case DTypeKind::kFloat:
      return dtype == DType::kFloat64 ? Arithmetic::kFloat64 : Arithmetic::kFloat32;
    case DTypeKind::kSignedInt:
    case DTypeKind::kBool:
      return Arithmetic::kInt64;
    case DTypeKind::kUnsignedInt:
      return dtype == DType::kUint64 ? Arithmetic::kUint64 : Arithmetic::kInt64;
    case DTypeKind::kComplex:
      return Arithmetic::kComplex;
    case DTypeKind::kString:
      return Arithmetic::kString;
    case DTypeKind::kNone:
      break;
  }
  return Arithmetic::kNone;
}

template <typename T>
const T* LoadBlock(const ElementSpan& elements, int64_t start, size_t n, T* scratch) {
  if (elements.dtype == DTypeOf(T{})) {
    const std::byte* first = elements.bytes.data() + static_cast<size_t>(start) * sizeof(T);
    if (reinterpret_cast<uintptr_t>(first) % alignof(T) == 0) {
      return reinterpret_cast<const T*>(first);
    }
  }
  bool done = false;
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    done = ConvertComplex(elements, start, n, scratch);
  } else {
    done = ConvertIntegers(elements, start, n, scratch);
    if constexpr (std::is_floating_point_v<T>) {
      if (!done) done = ConvertFloats(elements, start, n, scratch);
    }
  }
  if (!done) {
    for (size_t i = 0; i < n; ++i) scratch[i] = T{};
  }
  return scratch;
}

template const float* LoadBlock(const ElementSpan&, int64_t, size_t, float*);
template const double* LoadBlock(const ElementSpan&, int64_t, size_t, double*);
template const int64_t* LoadBlock(const ElementSpan&, int64_t, size_t, int64_t*);
template const uint64_t* LoadBlock(const ElementSpan&, int64_t, size_t, uint64_t*);
template const std::complex<double>* LoadBlock(const ElementSpan&, int64_t, size_t,
                                               std::complex<double>*);

std::string_view StringElement(const ElementSpan& elements, int64_t index) {
  int64_t range[2];
  std::memcpy(range, elements.bytes.data() + static_cast<size_t>(index) * sizeof(int64_t),
              sizeof(range));
  const auto* text = reinterpret_cast<const char*>(elements.bytes.data()) +
                     (static_cast<size_t>(elements.count) + 1) * sizeof(int64_t);
  return {text + range[0], static_cast<size_t>(range[1] - range[0])};
}

}  // namespace vernier
