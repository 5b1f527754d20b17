// MeasurePair for real numbers that float or double hold exactly: one pass over memory, split into
// fixed chunks over threads. Internal to kernels.
#pragma once

#include <optional>

#include "kernels/measures/pair_measures.h"
#include "kernels/measures/pair_source.h"

namespace vernier {

/// Fills everything that `request` asks for, but not `worst[].a` and `.b` nor the dtypes of the
/// differences; `ulp` only for layouts without a gap for NaN, and with place_of_max as the place
/// where its block begins. May fill more than was asked for. nullopt when 64-bit integers turn out
/// to be too large.
template <typename T>
std::optional<PairMeasures> ScanPair(const PairSource<T>& source, const MeasureRequest& request,
                                     ThreadPool* pool);

/// The statistics of A alone; B is not read.
template <typename T>
std::optional<ValueStatistics> ScanValues(const PairSource<T>& source, StatisticsLevel level,
                                          std::span<const double> quantiles, ThreadPool* pool);

}  // namespace vernier
