// From the command line to the plan of `profile`.
#pragma once

#include "options/bind/bind_run.h"
#include "run/profile/profile_run.h"

namespace vernier {

/// kInvalidArgument, naming the flag, and as BindRun and CheckRun.
Result<ProfilePlan> BindProfile(const ParsedArgs& args, const Invocation& invocation, Logger& log);

}  // namespace vernier
