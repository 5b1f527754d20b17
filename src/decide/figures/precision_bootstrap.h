// The paired bootstrap of mean average precision, over images.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decide/figures/average_precision.h"
#include "vernier/precision_record.h"

namespace vernier {

/// 95 % intervals of AveragePrecision::ap of both sides, and of the first minus the second: the 2.5
/// and 97.5 % quantiles (NumPy's, linear) over resamples of the images, the same of both sides.
/// Draw d takes the images, in the order of their ids, that default_rng(seed).integers(0, n) gives
/// for [d * n, (d + 1) * n); an image counts as often as it was drawn. Matches are not made again.
/// Both scorers were given the same images and labels. Draws without an object that counts are left
/// out; all NaN with fewer than two images, and where no draw is left.
PrecisionIntervals BootstrapPrecision(const DetectionScorer& first, const DetectionScorer& second,
                                      uint64_t seed, size_t draws = 10'000);

}  // namespace vernier
