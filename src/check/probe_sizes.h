// Sizes that a runner under examination takes, where it does not take those of 1.
#pragma once

#include "check/probe.h"
#include "run/size_search.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// FindSizes() for the runner; nothing is found, and nothing tried, where sizes are not guessed,
/// the runner does not say what it takes, takes what its engine was built for, or has died.
Result<FoundSizes> FindProbeSizes(const RunPlan& plan, const Probe::Shared& shared, SizeOne why,
                                  Probe& probe);

}  // namespace vernier
