// The run before a search of blame, and how it may end without a search.
#pragma once

#include "blame/search/blame_run.h"
#include "run/executor.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// Why there is nothing to search after the run; mismatches are no reason. kCancelled after a
/// signal, kInvalidArgument for a run that was stopped, kBackend for a runner that failed.
Status WhyNoSearch(const RunOutcome& ran);

/// The outcome of a search that was not begun, logged, with the faults of the run.
BlameOutcome EndedBy(const BlamePlan& plan, const RunOutcome& ran, const Status& why,
                     Logger& logger);

}  // namespace vernier
