#include "run/steps/step_tensors.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "inputs/cast_tensor.h"

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

DType WideTypeFor(DType dtype) {
  return Kind(dtype) == DTypeKind::kFloat ? DType::kFloat64 : DType::kInt64;
}

Status NoNumbers(DType dtype) {
  return InvalidArgument("elements of type " + std::string(DTypeName(dtype)) +
                         " are no numbers that can be counted up");
}

// That no integer has wrapped around: `made` are the sums in their own type.
Status CheckHeld(const Tensor& before, const Tensor& sums, const Tensor& made) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor again, CastTensor(made, DType::kInt64));
  const std::span<const int64_t> wanted = sums.As<int64_t>(), held = again.As<int64_t>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == held[i]) continue;
    return InvalidArgument(std::to_string(before.As<int64_t>()[i]) + " becomes " +
                           std::to_string(wanted[i]) + ", which is no " +
                           std::string(DTypeName(made.dtype())));
  }
  return {};
}

Result<Tensor> SameValues(DType dtype, int64_t value, int64_t count) {
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(DType::kInt64, {count}));
  std::ranges::fill(buffer.As<int64_t>(), value);
  return CastTensor(std::move(buffer).Freeze(), dtype);
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

Result<Tensor> AddToAll(const Tensor& tensor, int64_t amount) {
  const DType wide = WideTypeFor(tensor.dtype());
  if (!CanCast(tensor.dtype(), wide)) return NoNumbers(tensor.dtype());
  VERNIER_ASSIGN_OR_RETURN(const Tensor before, CastTensor(tensor, wide));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(wide, tensor.dims()));
  const auto count = static_cast<size_t>(before.element_count());
  for (size_t i = 0; i < count; ++i) {
    if (wide == DType::kFloat64) {
      buffer.As<double>()[i] = before.As<double>()[i] + static_cast<double>(amount);
    } else {
      buffer.As<int64_t>()[i] = static_cast<int64_t>(
          static_cast<uint64_t>(before.As<int64_t>()[i]) + static_cast<uint64_t>(amount));
    }
  }
  const Tensor sums = std::move(buffer).Freeze();
  VERNIER_ASSIGN_OR_RETURN(Tensor made, CastTensor(sums, tensor.dtype()));
  if (wide == DType::kInt64) VERNIER_TRY(CheckHeld(before, sums, made));
  return made;
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
