// From runner flags to runners with their backend, options and model.
#pragma once

#include <ctime>

#include "cli/arg_parser.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Fills plan.runners in the order of the command line. `now` is the time that names of runners
/// carry. kInvalidArgument when a runner has no model or --runner cannot be read; kUnimplemented
/// for runner flags without a backend of ours yet.
Status BindRunners(const ParsedArgs& args, std::time_t now, RunPlan& plan, Logger& logger);

}  // namespace vernier
