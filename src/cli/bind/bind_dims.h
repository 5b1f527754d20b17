// Sizes of dimensions by name, of the run and of its runners.
#pragma once

#include <cstdint>

#include "cli/words/arg_parser.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Who says what shapes the feeds of a run have: vernier, which draws them, or a file, a script or
/// the calling program, which has them.
enum class FeedsFrom : uint8_t { kDrawn, kElsewhere };

/// Fills plan.inputs.dims with those of --dim and of the plan's runners, which all have the same
/// feeds, and gives them to the runners. kInvalidArgument for one name with two sizes.
Status BindDims(const ParsedArgs& args, FeedsFrom from, RunPlan& plan, Logger& logger);

}  // namespace vernier
