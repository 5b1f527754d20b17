// `vernier blame`: from a plan to a record of which layer is to blame.
#pragma once

#include <atomic>

#include "blame/graph/blame_plan.h"
#include "run/outcome/exit_code.h"
#include "util/log/log.h"
#include "vernier/blame_record.h"

namespace vernier {

struct BlameOutcome {
  BlameRecord record;
  RunFaults faults;  ///< mismatch: something is to blame
};

/// Never fails as a call: what went wrong is in the faults and the record. `interrupted` is set by
/// a signal handler.
BlameOutcome ExecuteBlame(const BlamePlan& plan, Logger& logger,
                          const std::atomic<int>& interrupted);

}  // namespace vernier
