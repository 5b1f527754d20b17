// NumPy's basic slices and permuted axes, for values that two models hold in different forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// One entry between the brackets of `x[0, 64:, ..., None]`.
struct SliceItem {
  enum class Kind : uint8_t { kIndex, kRange, kEllipsis, kNewAxis };
  Kind kind = Kind::kRange;
  int64_t index = 0;                   ///< kIndex: below 0 it counts from the end
  std::optional<int64_t> start, stop;  ///< kRange, likewise
  int64_t step = 1;                    ///< kRange: not 0
};

/// A tensor of another: first the slice, then the axes. Without either, the tensor itself.
struct TensorForm {
  std::vector<SliceItem> slice;
  std::vector<size_t> axes;  ///< for each axis of the result, its axis before: numpy.transpose

  bool empty() const { return slice.empty() && axes.empty(); }
};

/// What stands between brackets: entries separated by commas, each an integer, START:STOP[:STEP],
/// `...` or `None`. kInvalidArgument, one sentence that quotes the entry.
Result<std::vector<SliceItem>> ParseSlice(std::string_view text);

/// "0,3,1,2": each of 0 to n-1 once. kInvalidArgument.
Result<std::vector<size_t>> ParseAxes(std::string_view text);

/// "0,3,1,2".
std::string FormatAxes(const std::vector<size_t>& axes);

/// As NumPy does it: ranges are cut off at the ends, a result may be empty. kInvalidArgument for
/// an index out of range, more entries than axes, and axes that are not the tensor's; kInternal
/// when memory runs out. Bytes are shared where the form is empty, else copied.
Result<Tensor> TakeForm(const Tensor& tensor, const TensorForm& form);

}  // namespace vernier
