// Built with -ffp-contract=off: a fused multiply-add in the scaling gives other bits than NumPy.
#include "inputs/draw_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <limits>
#include <utility>
#include <vector>

#include "inputs/float_encode.h"
#include "inputs/nibbles.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kBlock = 1024;

struct Scaling {
  double scale;
  double shift;
};

Scaling ScalingFor(const ValueRange& range) {
  const double low = BoundAsDouble(range.low);
  const double high = BoundAsDouble(range.high);
  Scaling scaling{high - low, low};
  if (std::isinf(low)) scaling = {low, 0.0};
  if (std::isinf(high)) scaling.scale = high;
  return scaling;
}

// Calls `store(index, value)` for `count` scaled draws.
template <typename Store>
void ForEachScaled(size_t count, const ValueRange& range, NumpyRandom& random, Store store) {
  const Scaling scaling = ScalingFor(range);
  std::array<double, kBlock> block;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const std::span<double> part(block.data(), std::min(kBlock, count - begin));
    random.FillDoubles(part);
    for (size_t i = 0; i < part.size(); ++i) {
      store(begin + i, part[i] * scaling.scale + scaling.shift);
    }
  }
}

template <typename T>
void StoreFloats(TensorBuffer& buffer, const ValueRange& range, NumpyRandom& random) {
  auto* out = reinterpret_cast<T*>(buffer.bytes().data());
  const size_t count = buffer.bytes().size() / sizeof(T);
  ForEachScaled(count, range, random,
                [out](size_t i, double value) { out[i] = static_cast<T>(value); });
}

// Part by part: while one is written, the next is drawn.
template <typename T>
Status SendFloats(const TensorPlace& place, const ValueRange& range, NumpyRandom& random) {
  constexpr size_t kPart = (size_t{4} << 20) / sizeof(T);
  const size_t count = place.bytes.size() / sizeof(T);
  std::array<std::vector<T>, 2> parts;
  std::future<Status> written;  // after the parts, which it reads
  for (size_t begin = 0; begin < count; begin += kPart) {
    std::vector<T>& part = parts[begin / kPart % 2];
    part.resize(std::min(kPart, count - begin));
    ForEachScaled(part.size(), range, random,
                  [out = part.data()](size_t i, double value) { out[i] = static_cast<T>(value); });
    if (written.valid()) VERNIER_TRY(written.get());
    const std::span<const std::byte> bytes = std::as_bytes(std::span(part));
    const auto to = place.bytes.subspan(begin * sizeof(T), bytes.size());
    // If no thread is available, get() does this synchronously.
    written = std::async([&place, to, bytes] { return place.memory->Write(to, bytes); });
  }
  return written.valid() ? written.get() : Status();
}

template <typename Code>
void StoreNarrow(DType dtype, std::span<Code> out, const ValueRange& range, NumpyRandom& random) {
  const NarrowFloat format = *NarrowFloat::Of(dtype);
  // NumPy itself knows float16 alone and rounds to it once.
  const bool through_float = dtype != DType::kFloat16;
  ForEachScaled(out.size(), range, random, [&](size_t i, double value) {
    const double rounded = through_float ? static_cast<double>(static_cast<float>(value)) : value;
    out[i] = static_cast<Code>(format.Encode(rounded));
  });
}

struct IntegerLimits {
  WideInt lowest;
  WideInt highest;
};

IntegerLimits LimitsOf(DType dtype) {
  const int bits = BitsOf(dtype);
  if (Kind(dtype) == DTypeKind::kUnsignedInt) return {0, (WideInt{1} << bits) - 1};
  const WideInt half = WideInt{1} << (bits - 1);
  return {-half, half - 1};
}

Status RefuseRange(DType dtype, const ValueRange& range) {
  const IntegerLimits limits = LimitsOf(dtype);
  return Malformed("the range " + FormatRange(range) + " cannot be used for " +
                   std::string(DTypeName(dtype)) + ": expected low <= high, both within [" +
                   FormatWideInt(limits.lowest) + ", " + FormatWideInt(limits.highest) + "]");
}

template <typename T>
Status StoreIntegers(DType dtype, std::span<T> out, const ValueRange& range, NumpyRandom& random) {
  const std::optional<WideInt> low = BoundAsInt(range.low);
  const std::optional<WideInt> high = BoundAsInt(range.high);
  const IntegerLimits limits = LimitsOf(dtype);
  if (!low || !high) return RefuseRange(dtype, range);
  if (out.empty()) return {};
  if (*low > *high || *low < limits.lowest || *high > limits.highest) {
    return RefuseRange(dtype, range);
  }
  random.FillIntegers(static_cast<T>(*low), static_cast<T>(*high), out);
  return {};
}

Status StoreBools(std::span<uint8_t> out, const ValueRange& range, NumpyRandom& random) {
  const bool low = BoundAsBool(range.low);
  const bool high = BoundAsBool(range.high);
  if (low && !high && !out.empty()) {
    return Malformed("the range " + FormatRange(range) +
                     " cannot be used for bool: it goes from true to false");
  }
  random.FillBools(low, high, out);
  return {};
}

// 4-bit types are drawn one to a byte and packed afterwards.
Status StoreNibbles(DType dtype, TensorBuffer& buffer, size_t count, const ValueRange& range,
                    NumpyRandom& random) {
  std::vector<uint8_t> codes(count);
  if (dtype == DType::kFloat4E2M1) {
    StoreNarrow(dtype, std::span(codes), range, random);
  } else if (dtype == DType::kUint4) {
    VERNIER_TRY(StoreIntegers(dtype, std::span(codes), range, random));
  } else {
    const std::span<int8_t> integers(reinterpret_cast<int8_t*>(codes.data()), codes.size());
    VERNIER_TRY(StoreIntegers(dtype, integers, range, random));
  }
  PackNibbles(codes, buffer.bytes());
  return {};
}

Status Store(DType dtype, TensorBuffer& buffer, size_t count, const ValueRange& range,
             NumpyRandom& random) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      StoreFloats<float>(buffer, range, random);
      return {};
    case DType::kFloat64:
    case DType::kComplex128:
      StoreFloats<double>(buffer, range, random);
      return {};
    case DType::kFloat16:
    case DType::kBFloat16:
      StoreNarrow(dtype, buffer.As<uint16_t>(), range, random);
      return {};
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      StoreNarrow(dtype, buffer.As<uint8_t>(), range, random);
      return {};
    case DType::kInt8:
      return StoreIntegers(dtype, buffer.As<int8_t>(), range, random);
    case DType::kUint8:
      return StoreIntegers(dtype, buffer.As<uint8_t>(), range, random);
    case DType::kInt16:
      return StoreIntegers(dtype, buffer.As<int16_t>(), range, random);
    case DType::kUint16:
      return StoreIntegers(dtype, buffer.As<uint16_t>(), range, random);
    case DType::kInt32:
      return StoreIntegers(dtype, buffer.As<int32_t>(), range, random);
    case DType::kUint32:
      return StoreIntegers(dtype, buffer.As<uint32_t>(), range, random);
    case DType::kInt64:
      return StoreIntegers(dtype, buffer.As<int64_t>(), range, random);
    case DType::kUint64:
      return StoreIntegers(dtype, buffer.As<uint64_t>(), range, random);
    case DType::kBool:
      return StoreBools(buffer.As<uint8_t>(), range, random);
    case DType::kInt4:
    case DType::kUint4:
    case DType::kFloat4E2M1:
      return StoreNibbles(dtype, buffer, count, range, random);
    case DType::kString:
    case DType::kUndefined:
      break;
  }
  return Internal("no values can be drawn for " + std::string(DTypeName(dtype)));
}

template <typename T>
void StoreValues(std::span<const int64_t> values, std::span<std::byte> bytes) {
  auto* out = reinterpret_cast<T*>(bytes.data());
  for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[i]);
}

std::string FormatInt(const RangeBound& bound) {
  const std::optional<WideInt> value = BoundAsInt(bound);
  return value ? FormatWideInt(*value) : FormatFloatRepr(std::get<double>(bound));
}

}  // namespace

Result<Tensor> DrawTensor(DType dtype, Dims dims, const ValueRange& range, NumpyRandom& random,
                          const TensorPlace* place) {
  if (dtype == DType::kString || dtype == DType::kUndefined) {
    return Malformed("values of type " + std::string(DTypeName(dtype)) +
                     " cannot be generated; load them with --load-inputs");
  }
  if (place != nullptr && (dtype == DType::kFloat32 || dtype == DType::kFloat64)) {
    VERNIER_TRY(dtype == DType::kFloat32 ? SendFloats<float>(*place, range, random)
                                         : SendFloats<double>(*place, range, random));
    return Tensor::WrapShared(dtype, std::move(dims), place->bytes, place->memory);
  }
  const std::optional<int64_t> count = ElementCount(dims);
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, std::move(dims)));
  VERNIER_TRY(Store(dtype, buffer, static_cast<size_t>(count.value_or(0)), range, random));
  Tensor tensor = std::move(buffer).Freeze();
  return place != nullptr ? MoveTo(*place, tensor) : Result<Tensor>(std::move(tensor));
}

Status CheckFloatRange(DType dtype, const ValueRange& range) {
  const bool is_complex = Kind(dtype) == DTypeKind::kComplex;
  if (!is_complex && Kind(dtype) != DTypeKind::kFloat) return {};
  const bool single = dtype == DType::kFloat32 || dtype == DType::kComplex64;
  const double largest = LargestFinite(!is_complex ? dtype
                                       : single    ? DType::kFloat32
                                                   : DType::kFloat64);
  // 3.4028235e38 is float32's largest value as NumPy writes it, and a little more.
  const auto as_stored = [single](double end) {
    return single ? static_cast<double>(static_cast<float>(end)) : end;
  };
  const double low = BoundAsDouble(range.low), high = BoundAsDouble(range.high);
  const std::string why = "the range " + FormatRange(range) + " cannot be used for " +
                          std::string(DTypeName(dtype)) + ": ";
  if (std::fabs(as_stored(low)) > largest || std::fabs(as_stored(high)) > largest) {
    const std::string limit = FormatFloatRepr(largest);
    return Malformed(why + "expected both ends within [-" + limit + ", " + limit + "]");
  }
  if (std::isfinite(high - low)) return {};
  return Malformed(why + "its width is beyond the largest number that there is");
}

Result<Tensor> MoveTo(const TensorPlace& place, const Tensor& tensor) {
  VERNIER_TRY(place.memory->Write(place.bytes, tensor.bytes()));
  return Tensor::WrapShared(tensor.dtype(), tensor.dims(), place.bytes, place.memory);
}

Result<Tensor> IntegerTensor(DType dtype, std::span<const int64_t> values) {
  const IntegerLimits limits = LimitsOf(dtype);
  for (const int64_t value : values) {
    if (value < limits.lowest || value > limits.highest) {
      return Malformed("the value " + std::to_string(value) + " does not fit " +
                       std::string(DTypeName(dtype)));
    }
  }
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(dtype, {static_cast<int64_t>(values.size())}));
  switch (BitsOf(dtype)) {
    case 8:
      StoreValues<uint8_t>(values, buffer.bytes());
      break;
    case 16:
      StoreValues<uint16_t>(values, buffer.bytes());
      break;
    case 32:
      StoreValues<uint32_t>(values, buffer.bytes());
      break;
    case 64:
      StoreValues<uint64_t>(values, buffer.bytes());
      break;
    default:
      std::vector<uint8_t> codes(values.size());
      StoreValues<uint8_t>(values, std::as_writable_bytes(std::span(codes)));
      PackNibbles(codes, buffer.bytes());
  }
  return std::move(buffer).Freeze();
}

std::string FormatDrawnRange(DType dtype, const ValueRange& range) {
  const auto format = [dtype](const RangeBound& bound) -> std::string {
    switch (Kind(dtype)) {
      case DTypeKind::kBool:
        return BoundAsBool(bound) ? "True" : "False";
      case DTypeKind::kSignedInt:
      case DTypeKind::kUnsignedInt:
        return FormatInt(bound);
      default:
        return FormatFloatRepr(BoundAsDouble(bound));
    }
  };
  return "[" + format(range.low) + ", " + format(range.high) + "]";
}

}  // namespace vernier
