// Outputs as rows of classes: where the rows lie, and their elements one row at a time. Internal to
// decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "kernels/measures/block_kernels.h"
#include "vernier/decision_plan.h"
#include "vernier/tensor.h"

namespace vernier {

/// Class c of row (o, i) is element (o * classes + c) * inner + i.
struct ClassRows {
  int64_t outer = 1;
  int64_t classes = 0;
  int64_t inner = 1;

  int64_t count() const { return outer * inner; }
};

/// The axis of the classes as docs/decisions.md has it; nullopt where the output has no such axis.
std::optional<size_t> ClassAxis(const DecisionPlan& decision, const Dims& dims);

ClassRows RowsAlongAxis(const Dims& dims, size_t axis);

/// Samples along the first axis: how many, and how many elements each has. A scalar is one sample.
struct SampleShape {
  int64_t samples = 1;
  int64_t size = 1;
};
SampleShape SamplesOf(const Dims& dims);

/// Equal parts of a tensor as T, without a copy where type and alignment allow.
template <typename T>
class PartReader {
 public:
  PartReader(const Tensor& tensor, int64_t part_size)
      : elements_(Elements(tensor)), size_(part_size), needs_scratch_(NeedsScratch()) {}

  /// Valid until the next call.
  const T* Part(int64_t index) { return Slice(index * size_, static_cast<size_t>(size_)); }

  /// Elements [start, start + n), likewise.
  const T* Slice(int64_t start, size_t n) {
    if (!needs_scratch_) return reinterpret_cast<const T*>(elements_.bytes.data()) + start;
    if (scratch_.size() < n) scratch_.resize(n);
    if constexpr (std::is_same_v<T, float>) {
      const auto load = VectorStorageKernels().to_float[static_cast<size_t>(elements_.dtype)];
      if (load != nullptr) {
        const int64_t bytes_before = start * BitsOf(elements_.dtype) / 8;
        load(elements_.bytes.data() + bytes_before, n, scratch_.data());
        return scratch_.data();
      }
    }
    return LoadBlock(elements_, start, n, scratch_.data());
  }

 private:
  // A tensor of the type itself is read where it lies if its bytes are aligned.
  bool NeedsScratch() const {
    return BitsOf(elements_.dtype) != static_cast<int>(sizeof(T) * 8) ||
           reinterpret_cast<uintptr_t>(elements_.bytes.data()) % alignof(T) != 0 ||
           NaturalArithmetic(elements_.dtype) != ArithmeticOfType(T{});
  }
  static Arithmetic ArithmeticOfType(float) { return Arithmetic::kFloat32; }
  static Arithmetic ArithmeticOfType(double) { return Arithmetic::kFloat64; }
  static Arithmetic ArithmeticOfType(int64_t) { return Arithmetic::kInt64; }
  static Arithmetic ArithmeticOfType(uint64_t) { return Arithmetic::kUint64; }

  ElementSpan elements_;
  int64_t size_;
  bool needs_scratch_;
  std::vector<T> scratch_;
};

/// Rows of classes; those that are scattered in memory (inner > 1) are gathered.
template <typename T>
class RowReader {
 public:
  RowReader(const Tensor& tensor, const ClassRows& rows)
      : blocks_(tensor, rows.classes * rows.inner), rows_(rows) {}

  /// Valid until the next call.
  std::span<const T> Row(int64_t index) {
    const auto classes = static_cast<size_t>(rows_.classes);
    if (rows_.inner == 1) return {blocks_.Part(index), classes};
    if (index / rows_.inner != loaded_) {
      loaded_ = index / rows_.inner;
      block_ = blocks_.Part(loaded_);
      row_.resize(classes);
    }
    const T* first = block_ + index % rows_.inner;
    for (size_t i = 0; i < classes; ++i) row_[i] = first[i * static_cast<size_t>(rows_.inner)];
    return row_;
  }

 private:
  PartReader<T> blocks_;
  ClassRows rows_;
  int64_t loaded_ = -1;
  const T* block_ = nullptr;
  std::vector<T> row_;
};

/// Calls `function` with a zero of the type in which the elements of both are exact: float, double,
/// int64_t or uint64_t. double where the two differ.
template <typename Function>
auto WithArithmetic(const Tensor& a, const Tensor& b, const Function& function) {
  const Arithmetic arithmetic = NaturalArithmetic(a.dtype());
  if (arithmetic != NaturalArithmetic(b.dtype())) return function(double{});
  switch (arithmetic) {
    case Arithmetic::kFloat32:
      return function(float{});
    case Arithmetic::kInt64:
      return function(int64_t{});
    case Arithmetic::kUint64:
      return function(uint64_t{});
    default:
      return function(double{});
  }
}

/// Likewise, of float and double alone.
template <typename Function>
auto WithFloats(const Tensor& a, const Tensor& b, const Function& function) {
  const bool in_float = NaturalArithmetic(a.dtype()) == Arithmetic::kFloat32 &&
                        NaturalArithmetic(b.dtype()) == Arithmetic::kFloat32;
  return in_float ? function(float{}) : function(double{});
}

}  // namespace vernier
