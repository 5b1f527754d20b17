#include "inputs/cast_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "inputs/float_encode.h"
#include "inputs/nibbles.h"
#include "kernels/elements/element_blocks.h"
#include "kernels/elements/float_formats.h"
#include "kernels/elements/tensor_elements.h"

namespace vernier {
namespace {

// x86-64's cvttsd2si: the smallest integer stands for all that does not fit.
template <typename Int>
Int TruncateLikeX86(double value) {
  constexpr double kLimit = -static_cast<double>(std::numeric_limits<Int>::min());
  const double whole = std::trunc(value);
  if (!(whole >= -kLimit && whole < kLimit)) return std::numeric_limits<Int>::min();
  return static_cast<Int>(whole);
}

template <std::integral To>
To FloatToInteger(double value) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    // Compilers convert the upper half by moving it into int64_t's range and back.
    constexpr uint64_t kTop = uint64_t{1} << 63;
    if (value >= 0x1p63) {
      return static_cast<uint64_t>(TruncateLikeX86<int64_t>(value - 0x1p63)) ^ kTop;
    }
    return static_cast<uint64_t>(TruncateLikeX86<int64_t>(value));
  } else if constexpr (std::is_same_v<To, int64_t> || std::is_same_v<To, uint32_t>) {
    return static_cast<To>(TruncateLikeX86<int64_t>(value));
  } else {
    return static_cast<To>(TruncateLikeX86<int32_t>(value));
  }
}

template <typename To, typename From>
To ConvertElement(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return FloatToInteger<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename To, typename From>
void StoreAs(const From* values, size_t n, std::byte* out) {
  for (size_t i = 0; i < n; ++i) {
    const To converted = ConvertElement<To>(values[i]);
    std::memcpy(out + i * sizeof(To), &converted, sizeof(To));
  }
}

template <typename Code, typename From>
void StoreNarrow(DType to, const From* values, size_t n, std::byte* out) {
  const NarrowFloat format = *NarrowFloat::Of(to);
  constexpr bool kIsDouble = std::is_same_v<From, double>;
  for (size_t i = 0; i < n; ++i) {
    const double exact = kIsDouble && to == DType::kFloat16
                             ? static_cast<double>(values[i])
                             : static_cast<double>(static_cast<float>(values[i]));
    const auto code = static_cast<Code>(format.Encode(exact));
    std::memcpy(out + i * sizeof(Code), &code, sizeof(Code));
  }
}

// 4-bit types are stored one to a byte here.
template <typename From>
void StoreBlock(DType to, const From* values, size_t n, std::byte* out) {
  switch (to) {
    case DType::kBool:
      for (size_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(values[i] != 0 ? 1 : 0);
      break;
    case DType::kInt4:
    case DType::kInt8:
      StoreAs<int8_t>(values, n, out);
      break;
    case DType::kUint4:
    case DType::kUint8:
      StoreAs<uint8_t>(values, n, out);
      break;
    case DType::kInt16:
      StoreAs<int16_t>(values, n, out);
      break;
    case DType::kUint16:
      StoreAs<uint16_t>(values, n, out);
      break;
    case DType::kInt32:
      StoreAs<int32_t>(values, n, out);
      break;
    case DType::kUint32:
      StoreAs<uint32_t>(values, n, out);
      break;
    case DType::kInt64:
      StoreAs<int64_t>(values, n, out);
      break;
    case DType::kUint64:
      StoreAs<uint64_t>(values, n, out);
      break;
    case DType::kFloat32:
      StoreAs<float>(values, n, out);
      break;
    case DType::kFloat64:
      StoreAs<double>(values, n, out);
      break;
    case DType::kFloat16:
    case DType::kBFloat16:
      StoreNarrow<uint16_t>(to, values, n, out);
      break;
    default:
      StoreNarrow<uint8_t>(to, values, n, out);
      break;
  }
}

// Calls `visit(values, n, start)` block by block, with values of type T.
template <typename T, typename Visit>
void ForEachBlockAs(const Tensor& tensor, Visit visit) {
  const ElementSpan elements = Elements(tensor);
  std::array<T, kBlockSize> scratch;
  for (int64_t start = 0; start < elements.count; start += static_cast<int64_t>(kBlockSize)) {
    const auto left = static_cast<size_t>(elements.count - start);
    const size_t n = std::min(kBlockSize, left);
    visit(LoadBlock<T>(elements, start, n, scratch.data()), n, static_cast<size_t>(start));
  }
}

template <typename Visit>
void ForEachBlock(const Tensor& tensor, Visit visit) {
  switch (NaturalArithmetic(tensor.dtype())) {
    case Arithmetic::kFloat32:
      ForEachBlockAs<float>(tensor, visit);
      break;
    case Arithmetic::kFloat64:
      ForEachBlockAs<double>(tensor, visit);
      break;
    case Arithmetic::kInt64:
      ForEachBlockAs<int64_t>(tensor, visit);
      break;
    case Arithmetic::kUint64:
      ForEachBlockAs<uint64_t>(tensor, visit);
      break;
    default:
      break;
  }
}

bool IsNumeric(DType dtype) {
  switch (Kind(dtype)) {
    case DTypeKind::kFloat:
    case DTypeKind::kSignedInt:
    case DTypeKind::kUnsignedInt:
    case DTypeKind::kBool:
      return true;
    default:
      return false;
  }
}

// A double rounded to a float type and widened again.
double RoundTo(DType dtype, double value) {
  if (dtype == DType::kFloat16) {
    return static_cast<double>(HalfToFloat(NarrowFloat::Of(dtype)->Encode(value)));
  }
  return dtype == DType::kFloat32 ? static_cast<double>(static_cast<float>(value)) : value;
}

// Integers against integers are compared exactly, all else in double.
struct Bounds {
  bool exact = false;
  __extension__ __int128 lowest = 0;
  __extension__ __int128 highest = 0;
  double low = 0;
  double high = 0;

  template <typename T>
  bool Excludes(T value) const {
    if constexpr (std::is_integral_v<T>) {
      if (exact) return value < lowest || value > highest;
    }
    const auto wide = static_cast<double>(value);
    return wide < low || wide > high;
  }
};

Bounds BoundsOf(DType to, DType from) {
  Bounds bounds;
  if (Kind(to) == DTypeKind::kFloat) {
    bounds.high = LargestFinite(to);
    bounds.low = -bounds.high;
    return bounds;
  }
  const int bits = BitsOf(to);
  const bool is_signed = Kind(to) == DTypeKind::kSignedInt;
  const int magnitude_bits = is_signed ? bits - 1 : bits;
  bounds.exact = true;
  bounds.highest = (static_cast<decltype(bounds.highest)>(1) << magnitude_bits) - 1;
  bounds.lowest = is_signed ? -bounds.highest - 1 : 0;
  bounds.low = RoundTo(from, static_cast<double>(bounds.lowest));
  bounds.high = RoundTo(from, static_cast<double>(bounds.highest));
  return bounds;
}

}  // namespace

bool CanCast(DType from, DType to) { return IsNumeric(from) && IsNumeric(to); }

Result<Tensor> CastTensor(const Tensor& tensor, DType to) {
  if (!CanCast(tensor.dtype(), to)) {
    return Malformed("elements of type " + std::string(DTypeName(tensor.dtype())) +
                     " cannot be converted to " + std::string(DTypeName(to)));
  }
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(to, tensor.dims()));
  if (BitsOf(to) == 4) {
    std::vector<uint8_t> codes(static_cast<size_t>(tensor.element_count()));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(codes));
    ForEachBlock(tensor, [&](const auto* values, size_t n, size_t start) {
      StoreBlock(to, values, n, bytes.data() + start);
    });
    PackNibbles(codes, buffer.bytes());
    return std::move(buffer).Freeze();
  }
  const size_t item_size = static_cast<size_t>(BitsOf(to)) / 8;
  ForEachBlock(tensor, [&](const auto* values, size_t n, size_t start) {
    StoreBlock(to, values, n, buffer.bytes().data() + start * item_size);
  });
  return std::move(buffer).Freeze();
}

bool AnyOutOfRange(const Tensor& tensor, DType to) {
  if (!CanCast(tensor.dtype(), to) || Kind(to) == DTypeKind::kBool) return false;
  const Bounds bounds = BoundsOf(to, tensor.dtype());
  bool found = false;
  ForEachBlock(tensor, [&](const auto* values, size_t n, size_t) {
    for (size_t i = 0; i < n && !found; ++i) found = bounds.Excludes(values[i]);
  });
  return found;
}

}  // namespace vernier
