// By how much a sum is off that is made one term after the other in float32, as its terms show.
//
// The rounding errors of different terms average out, so that they grow with the root of their
// number: that is what error_rules.h counts with. Terms that are equal are rounded alike until the
// sum has doubled, and their errors add up with the number itself (Higham, Accuracy and Stability
// of Numerical Algorithms, section 4.2): in flat areas of an image, say.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "vernier/tensor.h"

namespace vernier {

/// What a reduction sums, and makes of the sum.
enum class SummedTerms : uint8_t {
  kValues,
  kMagnitudes,
  kSquares,
  kSquaresToRoot,
};

/// nullopt for what is no such reduction.
std::optional<SummedTerms> SummedBy(std::string_view op_type);

/// The root mean square of the errors of all sums of `x`, a tensor of floats, over `axes` (of any
/// sign; none: all), relative to that of the sums. 0 where it is not known: without values, for
/// axes that the tensor does not have, and where sums are not finite or all 0.
double PlainSumError(const Tensor& x, std::span<const int64_t> axes, SummedTerms terms);

}  // namespace vernier
