// Arrays as NumPy prints them: str(array) with the default options (8 digits, 75 columns, more than
// 1000 elements summarised).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

/// What numpy.set_printoptions changes.
struct NumpyPrintOptions {
  int64_t edge_items = 3;  ///< shown at the ends of each axis of arrays of more than 1000 elements
  size_t line_width = 75;
};

/// str(np.ndarray). Types that NumPy lacks print as the nearest it has: bfloat16 and float8 as
/// float32, int4 as int8. Nested brackets, no trailing newline; "[]" when empty. Long outer axes of
/// arrays of 1000 elements or fewer are never shortened.
std::string FormatNumpyArray(const Tensor& tensor, const NumpyPrintOptions& options = {});

/// The elements at `places` (flat indices) as a one-dimensional array: str(array[mask]).
std::string FormatNumpySelection(const Tensor& tensor, const std::vector<int64_t>& places);

}  // namespace vernier
