// Measuring runners: from the command line to the plan.
#pragma once

#include "cli/bind_run.h"
#include "run/profile_run.h"

namespace vernier {

struct ProfilePlan {
  RunPlan run;
  ProfileOptions options;
};

/// kInvalidArgument, naming the flag, and as BindRun and CheckRun.
Result<ProfilePlan> BindProfile(const ParsedArgs& args, const Invocation& invocation, Logger& log);

}  // namespace vernier
