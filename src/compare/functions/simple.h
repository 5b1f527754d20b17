// `simple`: absolute and relative differences against tolerances.
#pragma once

#include "compare/functions/comparison.h"
#include "compare/functions/measurement.h"

namespace vernier {

/// Judges a pair whose shapes are aligned. A statistic passes when its absolute or its relative
/// value is within tolerance; several statistics must all pass. Under a mismatch share the elements
/// pass as a whole while few enough are out of tolerance, none by NaN, infinitely or too far.
/// Strings must be equal, whatever the tolerances.
FunctionResult JudgeSimple(PairMeasurement& pair);

/// Updates a result of JudgeSimple with what has been measured of the pair since.
void UpdateSimple(FunctionResult& result, PairMeasurement& pair);

/// Does a statistic with these values pass? NaN is outside a tolerance.
bool WithinTolerance(double absolute, double relative, double atol, double rtol);

}  // namespace vernier
