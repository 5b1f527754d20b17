// How large the values of one array are, and how many float16 could not hold.
#pragma once

#include <cstdint>

#include "kernels/elements/element_blocks.h"

namespace vernier {

struct Magnitudes {
  int64_t count = 0;
  int64_t nan_count = 0;
  int64_t infinite_count = 0;
  int64_t first_not_finite = -1;  ///< place of the first NaN or infinity; -1: none
  double min = 0;                 ///< of the finite values, like `max`; 0 when there are none
  double max = 0;
  int64_t beyond_float16 = 0;  ///< finite values that float16 rounds to infinity
  int64_t below_float16 = 0;   ///< not zero, and below float16's normal numbers
};

/// One pass. Of strings, complex numbers and undefined types only `count` is set.
Magnitudes MeasureMagnitudes(const ElementSpan& elements);

}  // namespace vernier
