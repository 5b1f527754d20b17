// Checks that need no reference: properties that each runner must have by itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/runners/probe.h"
#include "vernier/checks.h"
#include "vernier/consistency_record.h"
#include "vernier/run_plan.h"

namespace vernier {

/// kInvalidArgument, with the known names, for a property that does not exist.
Status CheckPropertyNames(const ConsistencyOptions& options);

/// Called with every property as it is done.
using PropertyObserver =
    std::function<void(const ConsistencyRunner& runner, const PropertyRecord& property)>;

/// Checks the properties of every runner of the plan. A runner that cannot be opened or run at all
/// has its `failure` set, and the others continue. Errors: what is wrong with the model, the inputs
/// or the command line, and kCancelled.
Result<ConsistencyRecord> CheckConsistency(const RunPlan& plan, const ConsistencyOptions& options,
                                           const Probe::Shared& shared,
                                           const PropertyObserver& observer);

}  // namespace vernier
