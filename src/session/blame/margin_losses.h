// How much single layers cost of the reference's margin on a sample that flips.
#pragma once

#include <atomic>

#include "blame/graph/blame_plan.h"
#include "util/log/log.h"
#include "vernier/blame_record.h"
#include "vernier/status.h"

namespace vernier {

/// Of the worst flip of the first feed: the candidate computes one layer from the reference's
/// tensors, and the reference continues from there to the decision. Fills `margin_of` and `margins`
/// of `record.on_flips`, for culprits and the layers with the largest own errors, a few of them.
/// Nothing is measured if no layer has an error of its own, for decisions without a margin, of
/// references in another format, and where sides build engines; what was to be measured and could
/// not be is a note. `plan.feeds` are those of `record.on_flips->iterations`. kCancelled where it
/// was interrupted: layers that were measured stay.
Status MeasureMarginLosses(const BlamePlan& plan, Logger& logger,
                           const std::atomic<int>& interrupted, BlameRecord& record);

}  // namespace vernier
