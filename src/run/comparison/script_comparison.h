// One iteration of a pair of runners as a comparison script judges it.
#pragma once

#include "backend/worker/script_client.h"
#include "compare/functions/comparison.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct CompareOptions;

/// What happens to a script's verdict on a name that neither side has, and of one that is no truth
/// value ("FAILED", [False]).
enum class StrangeVerdicts : uint8_t {
  /// The first, passing, shows nothing and is left out, and a failure stays one; the second is
  /// kBackend, naming the output and the type.
  kOnlyFailures,
  kTaken,  ///< as Polygraphy does
};

/// The script's verdicts in the form of any other comparison. Outputs without a verdict are in
/// `without_verdict`: the script may omit outputs, but that is reported.
Result<IterationComparison> CompareWithScript(ScriptClient& script, const IterationResult& a,
                                              const IterationResult& b, int64_t iteration,
                                              StrangeVerdicts strange);

}  // namespace vernier
