// Agreement that shows nothing.
#pragma once

#include <string>
#include <string_view>

#include "vernier/tensor.h"

namespace vernier {

struct FunctionResult;
struct PairMeasures;

/// Why a match of these two would show nothing: no elements, the same memory on both sides, or each
/// side constant. Empty when it would show something. Looks no further than the first element that
/// differs from the one before; a single element is not called constant.
std::string VacuousBecause(const Tensor& a, const Tensor& b);

/// The same for counts of parts (part_names.h): an empty sequence or map on both sides, or an
/// optional that neither has. Empty for all other outputs.
std::string VacuousBecauseNothing(const NamedTensor& a, const NamedTensor& b);

/// The same of two sides that do not match and whose statistics are known: both are all NaN.
std::string VacuousBecause(const PairMeasures& measures);

/// Why a function's match shows nothing: it was compared with an error bound as wide as the output,
/// an infinite tolerance or threshold, or logits that are equal at each position. Empty when it
/// shows something.
std::string VacuousBecause(const FunctionResult& result);

/// The reason for several iterations, from the reason for those before and that for the next.
/// Reasons that do not concern values (IsOfValues) take precedence; constants that are not all zero
/// may differ from iteration to iteration.
std::string VacuousInBoth(std::string_view before, std::string_view next);

/// Does the reason concern the values of an iteration, or their number? Then another iteration may
/// show something, since a fault would have failed here. With other reasons it would pass.
bool IsOfValues(std::string_view why);

/// The first, from the statistics of both sides alone.
std::string VacuousBecauseConstant(const PairMeasures& measures);

}  // namespace vernier
