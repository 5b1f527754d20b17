// Which tensor stands for which: --map-inputs and --map-outputs.
#pragma once

#include "cli/arg_parser.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The words of both options, those of files (@FILE) in their place. kMalformed where a file cannot
/// be read. What they mean is checked by ValidatePlan().
Status BindMaps(const ParsedArgs& args, RunPlan& plan);

}  // namespace vernier
