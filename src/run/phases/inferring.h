// Feeds go through the live runners, and their outputs to where they are compared.
#pragma once

#include "run/phases/feeding.h"
#include "run/phases/live_results.h"
#include "run/phases/run_context.h"
#include "run/phases/sides.h"

namespace vernier {

/// All runners together, one iteration after the other: what they make is compared and let go of.
/// They must have been started.
LiveResults InferStreaming(const RunContext& run, const LiveSide& side, const Comparing& comparing);

/// One runner after the other, each started, fed to the end and closed, so that only one framework
/// holds memory at a time: what they make waits in temporary files, and is compared at the end.
LiveResults InferInTurn(const RunContext& run, const LiveSide& side, const Comparing& comparing);

}  // namespace vernier
