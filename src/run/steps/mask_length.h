// Whether a mask has a value for each position that it is about, and takes one for the next.
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

/// Why a value is not to be appended to a mask that is added to scores, in which 0 is what 1 is in
/// others: a floating one with a value below 0. Empty where it may be.
std::string WhyNotAppended(const std::string& input, const Tensor& mask, int64_t value);

}  // namespace vernier
