// `check consistency`: from the plan to the record, what is logged, and what is saved.
#pragma once

#include <atomic>

#include "check/properties/consistency.h"
#include "run/outcome/exit_code.h"
#include "util/log/log.h"
#include "vernier/consistency_record.h"
#include "vernier/run_plan.h"

namespace vernier {

struct ConsistencyPlan {
  RunPlan run;
  ConsistencyOptions options;
};

struct ConsistencyOutcome {
  ConsistencyRecord record;
  RunFaults faults;  ///< mismatch: a property is broken
};

/// Checks the properties, logs each when it is done, and saves the record if the plan says so.
/// Errors as CheckConsistency.
Result<ConsistencyOutcome> TryConsistency(const ConsistencyPlan& plan,
                                          const std::atomic<int>& interrupted, Logger& log);

}  // namespace vernier
