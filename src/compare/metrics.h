// The verdicts of the comparison functions that reduce an output to one number: see
// compare/metric_table.h.
#pragma once

#include "compare/comparison.h"
#include "compare/measurement.h"

namespace vernier {

/// Judges a pair whose shapes are aligned. Differences of small floats are float32 operations as
/// Polygraphy's; everything else, sums included, is float64, so that integers do not overflow. PSNR
/// and SNR take A as the signal, the KL divergence as the distribution that is expected. Empty
/// tensors: l2, rmse, relative_l2 and ulp 0, cosine 1; PSNR and SNR NaN, which fails with a reason.
/// A metric that does not apply to the pair (none but `simple` does to strings), or cannot be
/// computed here, is kNotVerified with the reason.
FunctionResult JudgeMetric(CompareFunction function, PairMeasurement& pair);

}  // namespace vernier
