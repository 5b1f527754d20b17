// The comparison functions that reduce an output to one number: l2, cosine_similarity, psnr, snr.
#pragma once

#include <string_view>

#include "compare/comparison.h"

namespace vernier {

/// Judges two tensors of equal element count; the threshold is looked up by `name`. Differences of
/// small floats are float32 operations as the peer's; everything else, sums included, is float64,
/// so that integers do not overflow. PSNR and SNR take A as the signal. Empty tensors: l2 0,
/// cosine 1, psnr and snr NaN. Strings fail.
FunctionResult CompareMetric(CompareFunction function, std::string_view name, const Tensor& a,
                             const Tensor& b, const CompareOptions& options);

}  // namespace vernier
