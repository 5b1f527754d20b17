// Whether a mask has a value for each position that it is about, for the message of a runner that
// fails.
#pragma once

#include <span>
#include <string>

#include "run/steps/state_pairs.h"
#include "vernier/tensor.h"

namespace vernier {

/// A sentence about an `attention_mask` of another length than the past and the new tokens of a
/// feed have together; empty where it has that, or that of the new tokens alone, or where the feed
/// does not show them. Of the caches among `states`, those of four axes have the past along the
/// third. Some models want other masks: it explains a failure, and is none.
std::string WhyMaskMayNotFit(const TensorMap& feed, std::span<const StatePair> states);

}  // namespace vernier
