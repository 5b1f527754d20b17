// Sums of products of two arrays, in float64.
#pragma once

#include <optional>

#include "kernels/elements/element_blocks.h"
#include "vernier/status.h"

namespace vernier {

struct ProductSums {
  double dot = 0;  ///< of a and b; the real part where they are complex
  double a_squared = 0;
  double b_squared = 0;
  /// Of a - b: exact before it is squared where one is an integer, rounded to float32 where both
  /// are small floats whose differences float32 can hold.
  double difference_squared = 0;
  double a_max = 0;  ///< NaN if A holds one; 0 when empty; complex: of magnitudes
  /// All of the above are those of elements divided by two to this power, which is 0 unless float64
  /// cannot hold the sums, or the type of the elements their differences.
  int exponent = 0;
};

bool AreFinite(const ProductSums& sums);

/// Whether float64 cannot hold sums, of elements of these types, that were taken without an
/// exponent, or has rounded them to next to nothing: ask ScaledProductSums() then. Also where
/// float64 elements are all 0.
bool NeedScale(DType a, DType b, const ProductSums& sums);

/// The sums of arrays that hold floats or complex numbers, with the exponent that keeps them
/// finite. nullopt where an element is not finite, or all are 0.
std::optional<ProductSums> ScaledProductSums(const ElementSpan& a, const ElementSpan& b);

/// One pass. kInvalidArgument for strings, undefined types and different counts.
Result<ProductSums> ComputeProductSums(const ElementSpan& a, const ElementSpan& b);

}  // namespace vernier
