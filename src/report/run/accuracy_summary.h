// Polygraphy's summary of accuracy results that were judged again.
#pragma once

#include "compare/functions/accuracy_results.h"
#include "util/log/log.h"

namespace vernier {

/// "Accuracy Summary | A vs. B | Passed: ..." for every function and pair; under averages also each
/// output's metric. Averages must be possible (Reevaluate has checked that).
void LogAccuracySummary(const AccuracyResults& results, Logger& logger);

}  // namespace vernier
