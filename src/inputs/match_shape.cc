#include "inputs/match_shape.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inputs/nibbles.h"
#include "inputs/peer_text.h"

namespace vernier {
namespace {

constexpr size_t kMaxRank = 64;  // NumPy's

// Calls `visit(source)` with the index of the source element of every element of the transposed
// tensor, in its order.
template <typename Visit>
void ForEachTransposed(const Dims& dims, std::span<const size_t> permutation, Visit visit) {
  std::vector<size_t> strides(dims.size(), 1);
  for (size_t axis = dims.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * static_cast<size_t>(dims[axis]);
  }
  std::vector<size_t> index(dims.size(), 0);
  size_t source = 0;
  const auto count = static_cast<size_t>(ElementCount(dims).value_or(0));
  for (size_t done = 0; done < count; ++done) {
    visit(source);
    // The next index, last axis fastest; a carry takes back what the axis had added.
    for (size_t axis = permutation.size(); axis-- > 0;) {
      const size_t from = permutation[axis];
      source += strides[from];
      if (++index[axis] < static_cast<size_t>(dims[from])) break;
      source -= strides[from] * index[axis];
      index[axis] = 0;
    }
  }
}

// The peer's shape while it is being worked on: it prints a frozen one differently.
struct Target {
  std::vector<Dim> shape;
  bool frozen = false;

  std::string Text() const {
    if (!frozen) return FormatBoundedShape(shape, ShapeOrigin::kModel);
    return FormatPythonInts(Sizes());
  }
  Dims Sizes() const {
    Dims sizes;
    for (const Dim& dim : shape) sizes.push_back(dim.dynamic() ? -1 : dim.value);
    return sizes;
  }
};

Target Freeze(const Tensor& tensor, std::span<const Dim> shape) {
  Target target{{shape.begin(), shape.end()}, false};
  const auto is_dynamic = [](const Dim& dim) { return dim.dynamic(); };
  const auto dynamic = std::count_if(shape.begin(), shape.end(), is_dynamic);
  if (dynamic == 0) return target;
  if (dynamic == 1) {
    Dims fixed;
    for (const Dim& dim : shape) {
      if (!dim.dynamic()) fixed.push_back(dim.value);
    }
    // A volume beyond 64 bits is beyond the tensor's, which leaves nothing for the open dimension.
    const int64_t volume = ElementCount(fixed).value_or(0);
    const int64_t open = volume == 0 ? 0 : tensor.element_count() / volume;
    for (Dim& dim : target.shape) {
      if (dim.dynamic()) dim = {open, ""};
    }
    target.frozen = true;
  } else if (shape.size() == tensor.dims().size()) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].dynamic()) target.shape[i] = {tensor.dims()[i], ""};
    }
    target.frozen = true;
  }
  return target;
}

void TryReshape(Tensor& tensor, const Target& target, Logger& logger) {
  const std::string before = FormatDims(tensor.dims());
  Result<Tensor> reshaped = tensor.Reshaped(target.Sizes());
  if (!reshaped.ok()) {
    logger.Warning("Could not reshape array from shape: " + before + " to " + target.Text() +
                   ". Skipping reshape.");
    return;
  }
  if (reshaped->dims() != tensor.dims()) {
    logger.Info("Reshaped array from shape: " + before + " to: " + FormatDims(reshaped->dims()));
  }
  tensor = *std::move(reshaped);
}

std::optional<std::vector<size_t>> FindPermutation(const Dims& dims, const Dims& wanted) {
  if (dims.size() > kMaxRank) return std::nullopt;
  std::vector<size_t> permutation;
  std::vector<bool> used(dims.size(), false);
  for (const int64_t length : wanted) {
    size_t axis = 0;
    while (axis < dims.size() && (used[axis] || dims[axis] != length)) ++axis;
    if (axis == dims.size()) return std::nullopt;
    used[axis] = true;
    permutation.push_back(axis);
  }
  return permutation;
}

Status TryPermute(Tensor& tensor, const Target& target, Logger& logger) {
  const std::string before = FormatDims(tensor.dims());
  const std::optional<std::vector<size_t>> permutation =
      FindPermutation(tensor.dims(), target.Sizes());
  if (!permutation) {
    logger.Log(Severity::kExtraVerbose,
               "Array of shape: " + before + " cannot be permuted to: " + target.Text());
    return {};
  }
  if (std::is_sorted(permutation->begin(), permutation->end())) return {};
  VERNIER_ASSIGN_OR_RETURN(tensor, Transpose(tensor, *permutation));
  const std::vector<int64_t> axes(permutation->begin(), permutation->end());
  logger.Info("Permuted array of shape: " + before + " to: " + FormatDims(tensor.dims()) +
              " using permutation " + FormatPythonInts(axes));
  return {};
}

}  // namespace

bool FitsShape(std::span<const int64_t> dims, std::span<const Dim> shape) {
  if (dims.size() != shape.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!shape[i].dynamic() && shape[i].value != dims[i]) return false;
  }
  return true;
}

Result<Tensor> Transpose(const Tensor& tensor, std::span<const size_t> permutation) {
  Dims dims;
  for (const size_t axis : permutation) dims.push_back(tensor.dims()[axis]);
  const auto count = static_cast<size_t>(tensor.element_count());
  if (tensor.dtype() == DType::kString) {
    std::vector<std::string> values;
    values.reserve(count);
    ForEachTransposed(tensor.dims(), permutation, [&](size_t source) {
      values.emplace_back(tensor.StringAt(static_cast<int64_t>(source)));
    });
    return Tensor::FromStrings(std::move(dims), values);
  }

  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(tensor.dtype(), std::move(dims)));
  if (BitsOf(tensor.dtype()) == 4) {
    std::vector<uint8_t> codes(count);
    UnpackNibbles(tensor.bytes(), codes);
    std::vector<uint8_t> moved;
    moved.reserve(count);
    ForEachTransposed(tensor.dims(), permutation,
                      [&](size_t source) { moved.push_back(codes[source]); });
    PackNibbles(moved, buffer.bytes());
    return std::move(buffer).Freeze();
  }
  const size_t item_size = static_cast<size_t>(BitsOf(tensor.dtype())) / 8;
  std::byte* out = buffer.bytes().data();
  ForEachTransposed(tensor.dims(), permutation, [&](size_t source) {
    std::memcpy(out, tensor.bytes().data() + source * item_size, item_size);
    out += item_size;
  });
  return std::move(buffer).Freeze();
}

Result<Tensor> MatchShape(const Tensor& tensor, std::span<const Dim> shape, Logger& logger) {
  Tensor matched = tensor;
  const Target target = Freeze(tensor, shape);
  if (matched.dims().size() != shape.size()) TryReshape(matched, target, logger);
  if (matched.dims().size() == shape.size()) VERNIER_TRY(TryPermute(matched, target, logger));
  TryReshape(matched, target, logger);
  return matched;
}

}  // namespace vernier
