// Outputs of networks that make much of a single step of a quantiser: what differs there is neither
// a fault nor right.
#pragma once

#include <cstddef>
#include <utility>

#include "compare/functions/comparison.h"
#include "compare/functions/error_bound.h"
#include "run/comparison/bound_recheck.h"
#include "run/feeds/streams.h"

namespace vernier {

/// Of outputs behind quantisers that are over their bounds: those that one side's own rounding
/// moves beyond their bounds, and that differ by at most twice as much, become kNotVerified. Two
/// right sides flip codes of their own, and the movement of one whose inputs and scales are rounded
/// is a sample of that. `pair` is of streams; the first of them that can infer is moved.
void LeaveUndecided(BoundRecheck& recheck, std::pair<size_t, size_t> pair,
                    const IterationOutputs& outputs, const ErrorBounds& bounds,
                    IterationComparison& comparison);

}  // namespace vernier
