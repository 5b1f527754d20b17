// Measures runners one at a time, each with nothing else open.
#pragma once

#include <atomic>

#include "run/outcome/run_outcome.h"
#include "util/log/log.h"
#include "vernier/profile_options.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"

namespace vernier {

/// What `vernier profile` is asked to do.
struct ProfilePlan {
  RunPlan run;
  ProfileOptions options;
};

/// A record with a profile and no pairs. A runner that fails with some shapes is opened anew for
/// the next. Outputs are compared with those of the plan's first runner by the plan's rules.
RunOutcome ExecuteProfile(const RunPlan& plan, const ProfileOptions& options, Logger& logger,
                          const std::atomic<int>& interrupted);

}  // namespace vernier
