// `simple`: absolute and relative differences against tolerances.
#pragma once

#include <string_view>

#include "compare/comparison.h"

namespace vernier {

/// Judges two tensors of equal element count. Tolerances are looked up by `name`, the first
/// runner's. A statistic passes when its absolute or its relative value is within tolerance;
/// several statistics must all pass. Strings must be equal, whatever the tolerances.
FunctionResult CompareSimple(std::string_view name, const Tensor& a, const Tensor& b,
                             const CompareOptions& options, const ComparisonDetail& detail);

/// Does a statistic with these values pass? NaN is outside a tolerance.
bool WithinTolerance(double absolute, double relative, double atol, double rtol);

}  // namespace vernier
