// The numbers for an output's charts.
#pragma once

#include "compare/functions/comparison.h"
#include "vernier/chart_record.h"

namespace vernier {

/// Reads every element of both sides, three times over. `missing` says why where that is
/// impossible: strings, no elements, shapes that differ, bytes that are not in this process.
ChartRecord MakeCharts(const OutputComparison& output);

}  // namespace vernier
