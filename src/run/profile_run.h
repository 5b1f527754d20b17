// Measures runners one at a time, each with nothing else open.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "run/executor.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/run_record.h"

namespace vernier {

struct ProfileOptions {
  /// The words of --input-shapes, a list for each set of shapes. At least one set, which may be
  /// empty.
  std::vector<std::vector<std::string>> shapes;
  int64_t runs = 0;    ///< measured inferences; 0: as many as `seconds` have room for, at least ten
  double seconds = 3;  ///< of measuring, for each runner and set of shapes
  int64_t warm_up = 5;  ///< inferences before
  bool layers = true;   ///< measure single layers too, in a session of their own
  /// Called with all that is known after each point, for whoever would lose it if the process died.
  std::function<void(const RunRecord&)> keep = {};
};

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
