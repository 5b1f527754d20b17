// Sizes that a runner under examination accepts, if it does not accept sizes of 1.
#pragma once

#include "check/runners/probe.h"
#include "run/live/size_search.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Whether other sizes can help the runner: not if it does not declare its inputs, or accepts only
/// what its engine was built for.
bool TakesAnySizes(const Probe& probe);

/// The runner as one of a search. `probe` must outlive it.
SizeRunner SizeRunnerOf(Probe& probe, Result<bool> at_one);

/// FindSizes() for the runner alone; nothing is found, and nothing tried, where sizes are not
/// guessed, the runner does not TakesAnySizes(), or has died.
Result<FoundSizes> FindProbeSizes(const RunPlan& plan, const Probe::Shared& shared,
                                  Result<bool> at_one, Probe& probe);

}  // namespace vernier
