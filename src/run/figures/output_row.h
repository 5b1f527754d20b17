// One output of one iteration as a row, and rows folded to what the record says of all iterations.
#pragma once

#include "compare/functions/comparison.h"
#include "vernier/row_record.h"
#include "vernier/run_record.h"

namespace vernier {

/// What the comparison measured.
OutputRow MakeOutputRow(const OutputComparison& output);

/// Adds the next iteration, in order, to the figures over all iterations: counts, extrema with NaN
/// as the worst, the worst standing against the bound of --tolerance auto.
void FoldRow(const OutputRow& row, OutputRecord& record);

}  // namespace vernier
