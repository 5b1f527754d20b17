// Sums of products of two arrays, in float64.
#pragma once

#include "kernels/element_blocks.h"
#include "vernier/status.h"

namespace vernier {

struct ProductSums {
  double dot = 0;  ///< of a and b; the real part where they are complex
  double a_squared = 0;
  double b_squared = 0;
  double difference_squared = 0;  ///< of a - b, rounded to float32 where both are small floats
  double a_max = 0;               ///< NaN if A holds one; 0 when empty; complex: of magnitudes
};

/// One pass. kInvalidArgument for strings, undefined types and different counts.
Result<ProductSums> ComputeProductSums(const ElementSpan& a, const ElementSpan& b);

}  // namespace vernier
