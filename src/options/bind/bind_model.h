// From model flags to the model of a runner, or of a conversion.
#pragma once

#include <string>

#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

/// What the command line says about the model; its type is as given, not yet found out.
/// kInvalidArgument for sizes that cannot be read.
Result<ModelPlan> BindModel(const ParsedArgs& args);

}  // namespace vernier
