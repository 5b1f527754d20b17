// Polygraphy's file of metrics and verdicts (AccuracyResults, as JSON), which
// --save-accuracy-results writes and `check accuracy` reads.
//
// Metrics that Polygraphy does not have are bare verdicts to it; their values stand in a sibling
// key of the function's results, "vernier_measures":
//   {"function": "rmse", "lst": [[{"output": {"value": 1e-3, "threshold": 1e-5}}]]}
// by pair and iteration, as in "lst".
#pragma once

#include <string>

#include "compare/functions/accuracy_results.h"
#include "vernier/status.h"

namespace vernier {

/// Writes the file in one step. kIo when that fails.
Status WriteAccuracyResults(const AccuracyResults& results, const std::string& path);

/// kMalformed, naming the path, when the file is missing, not JSON, or not such results.
Result<AccuracyResults> ReadAccuracyResults(const std::string& path);

}  // namespace vernier
