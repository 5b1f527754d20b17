// What steps make of the tensors of a sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "run/steps/step_words.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Elements `start` to `start + size` along an axis, with zeros where that is below 0. The axis is
/// one of the tensor's, and nothing lies behind its end. kInvalidArgument for strings and packed
/// types; kInternal when memory cannot be had.
Result<Tensor> TakeWindow(const Tensor& tensor, size_t axis, int64_t start, int64_t size);

/// One behind the other along an axis; there is at least one. kInvalidArgument for tensors of
/// different types or shapes, without this axis, of strings and packed types; kInternal when memory
/// cannot be had.
Result<Tensor> JoinAlong(std::span<const Tensor> parts, size_t axis);

/// The last axis, longer by `count` elements of this value. kInvalidArgument for a scalar and for
/// types that are no whole bytes or no numbers; kMalformed for a value that the type does not have;
/// kInternal when memory cannot be had.
Result<Tensor> AppendValues(const Tensor& tensor, int64_t value, int64_t count);

/// Every element and `amount` times `count`, which is at least 0. kInvalidArgument for types that
/// are no numbers; kMalformed, with the value, where the type ends before a sum or rounds a whole
/// number, or another by more than a quarter of `amount`; kInternal when memory cannot be had.
Result<Tensor> AddToAll(const Tensor& tensor, int64_t amount, int64_t count = 1);

/// The same of an amount that is no whole number. kInvalidArgument for types that have none.
Result<Tensor> AddFraction(const Tensor& tensor, double amount, int64_t count);

/// An input at a step, of what it is at step 0. Errors as of those above; so of a value to set.
Result<Tensor> AdvancedFrom(const Tensor& first, const AdvanceWord& advance, int64_t step);

/// kInvalidArgument for types without zeros; kInternal when memory cannot be had.
Result<Tensor> MakeZeros(DType dtype, Dims dims);

}  // namespace vernier
