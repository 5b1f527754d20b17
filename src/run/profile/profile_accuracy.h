// What a comparison with the first runner says of a runner that is profiled.
#pragma once

#include "compare/comparison.h"
#include "vernier/profile_record.h"

namespace vernier {

/// Outputs that agree say nothing of those without a counterpart: unless these are expected, they
/// leave the runner without a comparison that passed.
ProfileAccuracy AccuracyOf(const IterationComparison& comparison, bool may_be_alone);

}  // namespace vernier
