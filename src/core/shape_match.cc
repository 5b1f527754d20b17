#include "core/shape_match.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace vernier {
namespace {

/// Visits the elements of a transposed tensor in its order, by their index in the original.
class TransposedIndex {
 public:
  TransposedIndex(const Dims& dims, std::span<const size_t> permutation) {
    std::vector<int64_t> strides(dims.size(), 1);
    for (size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
    for (const size_t axis : permutation) {
      sizes_.push_back(dims[axis]);
      strides_.push_back(strides[axis]);
    }
    place_.assign(sizes_.size(), 0);
  }

  int64_t index() const { return index_; }

  void Next() {
    for (size_t axis = sizes_.size(); axis-- > 0;) {
      index_ += strides_[axis];
      if (++place_[axis] < sizes_[axis]) return;
      index_ -= strides_[axis] * sizes_[axis];
      place_[axis] = 0;
    }
  }

 private:
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  std::vector<int64_t> place_;
  int64_t index_ = 0;
};

Dims PermutedDims(const Dims& dims, std::span<const size_t> permutation) {
  Dims permuted;
  for (const size_t axis : permutation) permuted.push_back(dims[axis]);
  return permuted;
}

Result<Tensor> TransposeStrings(const Tensor& tensor, std::span<const size_t> permutation) {
  TransposedIndex from(tensor.dims(), permutation);
  std::vector<std::string> values;
  for (int64_t i = 0; i < tensor.element_count(); ++i, from.Next()) {
    values.emplace_back(tensor.StringAt(from.index()));
  }
  return Tensor::FromStrings(PermutedDims(tensor.dims(), permutation), values);
}

void CopyNibble(std::span<const std::byte> from, int64_t source, std::span<std::byte> to,
                int64_t target) {
  const auto source_byte = std::to_integer<unsigned>(from[static_cast<size_t>(source / 2)]);
  const unsigned nibble = (source_byte >> (4 * (source % 2))) & 0xfu;
  std::byte& out = to[static_cast<size_t>(target / 2)];
  out = target % 2 == 0 ? std::byte(nibble) : out | std::byte(nibble << 4);
}

// NumPy has no more dimensions than this, and a model's may be any number.
constexpr size_t kMaxRank = 64;

std::optional<std::vector<size_t>> FindPermutation(const Dims& from, const Dims& to) {
  if (from.size() != to.size() || from.size() > kMaxRank) return std::nullopt;
  std::vector<bool> used(from.size(), false);
  std::vector<size_t> permutation;
  for (const int64_t length : to) {
    size_t axis = 0;
    while (axis < from.size() && (used[axis] || from[axis] != length)) ++axis;
    if (axis == from.size()) return std::nullopt;
    used[axis] = true;
    permutation.push_back(axis);
  }
  return permutation;
}

void Reshape(ShapeMatch& match, const Dims& wanted) {
  const Dims before = match.tensor.dims();
  Result<Tensor> reshaped = match.tensor.Reshaped(wanted);
  if (!reshaped.ok()) {
    match.steps.push_back({ShapeStep::Kind::kNotReshapable, before, wanted, {}});
    return;
  }
  if (before != wanted) match.steps.push_back({ShapeStep::Kind::kReshaped, before, wanted, {}});
  match.tensor = *std::move(reshaped);
}

Status Permute(ShapeMatch& match, const Dims& wanted) {
  const Dims before = match.tensor.dims();
  std::optional<std::vector<size_t>> permutation = FindPermutation(before, wanted);
  if (!permutation) {
    match.steps.push_back({ShapeStep::Kind::kNotPermutable, before, wanted, {}});
    return {};
  }
  if (before == wanted) return {};
  VERNIER_ASSIGN_OR_RETURN(match.tensor, Transpose(match.tensor, *permutation));
  match.steps.push_back({ShapeStep::Kind::kPermuted, before, wanted, *std::move(permutation)});
  return {};
}

}  // namespace

Result<Tensor> Transpose(const Tensor& tensor, std::span<const size_t> permutation) {
  if (tensor.dtype() == DType::kString) return TransposeStrings(tensor, permutation);
  VERNIER_ASSIGN_OR_RETURN(
      TensorBuffer buffer,
      TensorBuffer::Allocate(tensor.dtype(), PermutedDims(tensor.dims(), permutation)));
  // The other dimensions of an empty tensor may be too large to multiply.
  if (tensor.element_count() == 0) return std::move(buffer).Freeze();
  const int bits = BitsOf(tensor.dtype());
  const auto size = static_cast<size_t>(bits / 8);
  TransposedIndex from(tensor.dims(), permutation);
  for (int64_t i = 0; i < tensor.element_count(); ++i, from.Next()) {
    if (bits == 4) {
      CopyNibble(tensor.bytes(), from.index(), buffer.bytes(), i);
    } else {
      std::memcpy(buffer.bytes().data() + static_cast<size_t>(i) * size,
                  tensor.bytes().data() + static_cast<size_t>(from.index()) * size, size);
    }
  }
  return std::move(buffer).Freeze();
}

Dims WithoutUnitAxes(const Dims& dims) {
  Dims rest;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(rest),
               [](int64_t length) { return length != 1; });
  return rest;
}

Result<ShapeMatch> MatchShape(const Tensor& tensor, const Dims& wanted) {
  ShapeMatch match{tensor, {}};
  if (tensor.dims() == wanted) return match;
  if (tensor.dims().size() != wanted.size()) Reshape(match, wanted);
  if (match.tensor.dims().size() == wanted.size()) VERNIER_TRY(Permute(match, wanted));
  Reshape(match, wanted);
  return match;
}

std::optional<ShapeStep> PlanShapeMatch(const Dims& from, const Dims& wanted) {
  if (from == wanted) return std::nullopt;
  if (std::optional<std::vector<size_t>> permutation = FindPermutation(from, wanted)) {
    return ShapeStep{ShapeStep::Kind::kPermuted, from, wanted, *std::move(permutation)};
  }
  const std::optional<int64_t> count = ElementCount(from);
  if (!count || count != ElementCount(wanted)) return std::nullopt;
  return ShapeStep{ShapeStep::Kind::kReshaped, from, wanted, {}};
}

}  // namespace vernier
