// What outputs for extreme inputs hold, and how they differ from those of the first runner.
#pragma once

#include <map>
#include <string>

#include "vernier/extremes_record.h"
#include "vernier/tensor.h"

namespace vernier {

/// What the comparisons of an output came to, over all sets.
struct OutputCoverage {
  bool shows = false;  ///< something, with one set at least
  std::string why;     ///< it does not
};
using ExtremeCoverage = std::map<std::string, OutputCoverage>;

/// Counts the elements by their kinds: NaN, infinite, denormal, zero. Strings and complex numbers
/// are elements and nothing else.
void CountElements(const TensorMap& outputs, ExtremeAnswer& answer);

/// Adds to `answer` how `outputs` differ from those of the `first` runner for the same inputs, and
/// which of them cannot be compared; to `coverage` what that shows of each.
void HoldAgainstFirst(const TensorMap& first, const TensorMap& outputs, ExtremeAnswer& answer,
                      ExtremeCoverage& coverage);

}  // namespace vernier
