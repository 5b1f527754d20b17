// MeasurePair piece by piece, for what the one pass cannot hold exactly: strings, complex numbers,
// large 64-bit integers. Tests compare the one pass with it. Internal to kernels.
#pragma once

#include <span>

#include "kernels/measures/pair_measures.h"

namespace vernier {

Result<PairMeasures> MeasurePairByParts(const ElementSpan& a, const ElementSpan& b,
                                        const MeasureRequest& request);
ValueStatistics MeasureValuesByParts(const ElementSpan& elements, StatisticsLevel level,
                                     std::span<const double> quantiles);

UlpDistances MeasureUlp(const ElementSpan& a, const ElementSpan& b);

/// Sets `a` and `b` of each.
void FillSides(std::span<WorstElement> elements, const ElementSpan& a, const ElementSpan& b);

/// Resets what `level` does not ask for.
void KeepLevel(ValueStatistics& statistics, StatisticsLevel level);

}  // namespace vernier
