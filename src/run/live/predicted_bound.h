// What a prediction of rounding errors makes of a tensor's bound. Beside pair_error_bounds.h, which
// declares DescribeBound and MakeBound.
#pragma once

#include <string>

#include "vernier/dtype.h"

namespace vernier {

/// Whole numbers that differ do so by more, beside their scale.
inline constexpr double kWholeStep = 1e-12;

/// Floats and complex numbers.
bool HoldsFloats(DType dtype);

/// Complex numbers are pairs of floats.
DType PartOf(DType dtype);

/// Of values that are no floats: why their bound is what it is.
std::string ExactValues(DType dtype);

}  // namespace vernier
