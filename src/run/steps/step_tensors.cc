#include "run/steps/step_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "inputs/cast_tensor.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// The bytes of a tensor as rows: `outer` of them, each of `length` cells along the axis.
struct AxisRows {
  size_t outer = 1;
  size_t length = 0;
  size_t cell = 0;  // bytes
};

Result<AxisRows> RowsAlong(const Tensor& tensor, size_t axis) {
  const int bits = BitsOf(tensor.dtype());
  if (bits == 0 || bits % 8 != 0) {
    return InvalidArgument("elements of type " + std::string(DTypeName(tensor.dtype())) +
                           " cannot be taken one by one");
  }
  const Dims& dims = tensor.dims();
  AxisRows rows;
  for (size_t i = 0; i < axis; ++i) rows.outer *= static_cast<size_t>(dims[i]);
  rows.length = static_cast<size_t>(dims[axis]);
  rows.cell = static_cast<size_t>(bits) / 8;
  for (size_t i = axis + 1; i < dims.size(); ++i) rows.cell *= static_cast<size_t>(dims[i]);
  return rows;
}

Status NoNumbers(DType dtype) {
  return InvalidArgument("elements of type " + std::string(DTypeName(dtype)) +
                         " are not numbers that can be counted up");
}

// Enough for every sum of two integers of 64 bits, and for their product.
__extension__ using ExactInt = __int128;

struct IntLimits {
  ExactInt least = 0;
  ExactInt most = 0;
};

IntLimits LimitsOf(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  const int bits = BitsOf(dtype);
  if (Kind(dtype) == DTypeKind::kUnsignedInt) return {0, (ExactInt{1} << bits) - 1};
  return {-(ExactInt{1} << (bits - 1)), (ExactInt{1} << (bits - 1)) - 1};
}

std::string WideText(ExactInt value) {
  std::string digits;
  const bool negative = value < 0;
  for (; value != 0; value /= 10) {
    const auto digit = static_cast<int>(value % 10);
    digits.insert(digits.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
  return (negative ? "-" : "") + (digits.empty() ? "0" : digits);
}

Status CheckHolds(DType dtype, ExactInt value) {
  const IntLimits limits = LimitsOf(dtype);
  if (value >= limits.least && value <= limits.most) return {};
  return Malformed("a value would be " + WideText(value) + ", and " +
                   std::string(DTypeName(dtype)) + " goes from " + WideText(limits.least) + " to " +
                   WideText(limits.most));
}

// What rounding made of a sum. Values that are no whole numbers are rounded anyway.
Status CheckRounded(DType dtype, double sum, double made, double amount) {
  if (!std::isfinite(sum) || sum == made) return {};
  const bool whole = sum == std::nearbyint(sum);
  if (!whole && std::fabs(sum - made) <= std::fabs(amount) / 4) return {};
  return Malformed("a value would be " + FormatG(sum, 17) + ", which " +
                   std::string(DTypeName(dtype)) + " rounds to " + FormatG(made, 17));
}

Result<Tensor> AddFloats(const Tensor& tensor, double amount, double by) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor before, CastTensor(tensor, DType::kFloat64));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(DType::kFloat64, tensor.dims()));
  const std::span<const double> from = before.As<double>();
  for (size_t i = 0; i < from.size(); ++i) buffer.As<double>()[i] = from[i] + by;
  const Tensor sums = std::move(buffer).Freeze();
  VERNIER_ASSIGN_OR_RETURN(Tensor made, CastTensor(sums, tensor.dtype()));
  VERNIER_ASSIGN_OR_RETURN(const Tensor back, CastTensor(made, DType::kFloat64));
  for (size_t i = 0; i < from.size() && by != 0; ++i) {
    VERNIER_TRY(CheckRounded(tensor.dtype(), sums.As<double>()[i], back.As<double>()[i], amount));
  }
  return made;
}

Result<Tensor> AddIntegers(const Tensor& tensor, ExactInt by) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor before, CastTensor(tensor, DType::kInt64));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(DType::kInt64, tensor.dims()));
  const std::span<const int64_t> from = before.As<int64_t>();
  for (size_t i = 0; i < from.size(); ++i) {
    const ExactInt value = tensor.dtype() == DType::kUint64
                               ? static_cast<ExactInt>(static_cast<uint64_t>(from[i]))
                               : from[i];
    VERNIER_TRY(CheckHolds(tensor.dtype(), value + by));
    buffer.As<int64_t>()[i] = static_cast<int64_t>(value + by);
  }
  return CastTensor(std::move(buffer).Freeze(), tensor.dtype());
}

Result<Tensor> SameValues(DType dtype, int64_t value, int64_t count) {
  if (Kind(dtype) != DTypeKind::kFloat) VERNIER_TRY(CheckHolds(dtype, value));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(DType::kInt64, {count}));
  std::ranges::fill(buffer.As<int64_t>(), value);
  VERNIER_ASSIGN_OR_RETURN(Tensor made, CastTensor(std::move(buffer).Freeze(), dtype));
  if (count == 0 || Kind(dtype) != DTypeKind::kFloat) return made;
  VERNIER_ASSIGN_OR_RETURN(const Tensor back, CastTensor(made, DType::kFloat64));
  VERNIER_TRY(CheckRounded(dtype, static_cast<double>(value), back.As<double>().front(), 0));
  return made;
}

// As large as before.
Result<Tensor> WithAllSet(const Tensor& tensor, const AdvanceWord& advance) {
  if (!CanCast(DType::kInt64, tensor.dtype())) return NoNumbers(tensor.dtype());
  if (advance.fraction) {
    VERNIER_ASSIGN_OR_RETURN(const Tensor zeros, MakeZeros(tensor.dtype(), tensor.dims()));
    return AddFraction(zeros, *advance.fraction, 1);
  }
  VERNIER_ASSIGN_OR_RETURN(const Tensor flat,
                           SameValues(tensor.dtype(), advance.amount, tensor.element_count()));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(tensor.dtype(), tensor.dims()));
  std::ranges::copy(flat.bytes(), buffer.bytes().begin());
  return std::move(buffer).Freeze();
}

}  // namespace

Result<Tensor> TakeWindow(const Tensor& tensor, size_t axis, int64_t start, int64_t size) {
  VERNIER_ASSIGN_OR_RETURN(const AxisRows rows, RowsAlong(tensor, axis));
  Dims dims = tensor.dims();
  dims[axis] = size;
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(tensor.dtype(), dims));
  const auto before = static_cast<size_t>(std::clamp<int64_t>(-start, 0, size)) * rows.cell;
  const size_t whole = static_cast<size_t>(size) * rows.cell;
  const size_t from = static_cast<size_t>(std::max<int64_t>(start, 0)) * rows.cell;
  std::byte* out = buffer.bytes().data();
  const std::byte* in = tensor.bytes().data();
  for (size_t row = 0; row < rows.outer && whole > 0; ++row) {
    std::memset(out, 0, before);
    if (whole > before) std::memcpy(out + before, in + from, whole - before);
    out += whole;
    in += rows.length * rows.cell;
  }
  return std::move(buffer).Freeze();
}

Result<Tensor> JoinAlong(std::span<const Tensor> parts, size_t axis) {
  const Tensor& first = parts.front();
  Dims dims = first.dims();
  if (axis >= dims.size()) {
    return InvalidArgument("the shape " + FormatDims(dims) + " has no axis " +
                           std::to_string(axis));
  }
  const bool alike = std::ranges::all_of(parts, [&](const Tensor& part) {
    return part.dtype() == first.dtype() && part.dims() == dims;
  });
  if (!alike) return InvalidArgument("its steps differ in type or shape");
  VERNIER_ASSIGN_OR_RETURN(const AxisRows rows, RowsAlong(first, axis));
  dims[axis] *= static_cast<int64_t>(parts.size());
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(first.dtype(), dims));
  const size_t size = rows.length * rows.cell;
  std::byte* out = buffer.bytes().data();
  for (size_t row = 0; row < rows.outer && size > 0; ++row) {
    for (const Tensor& part : parts) {
      std::memcpy(out, part.bytes().data() + row * size, size);
      out += size;
    }
  }
  return std::move(buffer).Freeze();
}

Result<Tensor> AppendValues(const Tensor& tensor, int64_t value, int64_t count) {
  if (tensor.dims().empty()) return InvalidArgument("a scalar has no axis to append to");
  if (!CanCast(DType::kInt64, tensor.dtype())) return NoNumbers(tensor.dtype());
  const size_t axis = tensor.dims().size() - 1;
  VERNIER_ASSIGN_OR_RETURN(const AxisRows rows, RowsAlong(tensor, axis));
  VERNIER_ASSIGN_OR_RETURN(const Tensor tail, SameValues(tensor.dtype(), value, count));
  Dims dims = tensor.dims();
  dims[axis] += count;
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(tensor.dtype(), dims));
  const size_t head = rows.length * rows.cell;
  std::byte* out = buffer.bytes().data();
  const std::byte* in = tensor.bytes().data();
  for (size_t row = 0; row < rows.outer; ++row) {
    if (head > 0) std::memcpy(out, in, head);
    if (count > 0) std::memcpy(out + head, tail.bytes().data(), tail.bytes().size());
    out += head + tail.bytes().size();
    in += head;
  }
  return std::move(buffer).Freeze();
}

Result<Tensor> AddToAll(const Tensor& tensor, int64_t amount, int64_t count) {
  const bool real = Kind(tensor.dtype()) == DTypeKind::kFloat;
  if (!CanCast(tensor.dtype(), real ? DType::kFloat64 : DType::kInt64)) {
    return NoNumbers(tensor.dtype());
  }
  const ExactInt by = static_cast<ExactInt>(amount) * count;
  if (!real) return AddIntegers(tensor, by);
  return AddFloats(tensor, static_cast<double>(amount), static_cast<double>(by));
}

Result<Tensor> AddFraction(const Tensor& tensor, double amount, int64_t count) {
  if (Kind(tensor.dtype()) != DTypeKind::kFloat || !CanCast(tensor.dtype(), DType::kFloat64)) {
    return InvalidArgument("elements of type " + std::string(DTypeName(tensor.dtype())) +
                           " take whole numbers alone");
  }
  return AddFloats(tensor, amount, amount * static_cast<double>(count));
}

Result<Tensor> AdvancedFrom(const Tensor& first, const AdvanceWord& advance, int64_t step) {
  if (advance.appends) return AppendValues(first, advance.amount, step * advance.each);
  if (advance.sets) return step == 0 ? first : WithAllSet(first, advance);
  if (advance.fraction) return AddFraction(first, *advance.fraction, step);
  return AddToAll(first, advance.amount, step);
}

Result<Tensor> MakeZeros(DType dtype, Dims dims) {
  if (BitsOf(dtype) == 0) {
    return InvalidArgument("type " + std::string(DTypeName(dtype)) + " has no zero");
  }
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, std::move(dims)));
  if (!buffer.bytes().empty()) std::memset(buffer.bytes().data(), 0, buffer.bytes().size());
  return std::move(buffer).Freeze();
}

}  // namespace vernier
