// One iteration of a pair of runners as a comparison script judges it.
#pragma once

#include "backend/script_client.h"
#include "compare/comparison.h"
#include "vernier/compare_options.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The script's verdicts in the form of any other comparison. Outputs that the script says nothing
/// of are not in it: what it compares is its own affair, but not whether it compares anything.
Result<IterationComparison> CompareWithScript(ScriptClient& script, const IterationResult& a,
                                              const IterationResult& b, int64_t iteration);

}  // namespace vernier
