// Whether a mask has a value for each position that it is about.
#pragma once

#include <span>
#include <string>

#include "run/steps/state_pairs.h"
#include "vernier/tensor.h"

namespace vernier {

/// A sentence about an `attention_mask` of another length than the past and the new tokens of a
/// feed have together; empty where it has that, or that of one of the two alone, or where the feed
/// does not show them. Of the caches among `states`, or those called past where there are none,
/// those of four axes have the past along the third. Some models want other masks: it explains a
/// failure, and is none.
std::string WhyMaskMayNotFit(const TensorMap& feed, std::span<const StatePair> states);

}  // namespace vernier
