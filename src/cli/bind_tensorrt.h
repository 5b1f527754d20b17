// The options of TensorRT runners, as the plug-in understands them.
#pragma once

#include <string>
#include <string_view>

#include "cli/arg_parser.h"
#include "model/model_type.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Is this the dest of an option that only TensorRT runners look at?
bool IsTensorRtDest(std::string_view dest);

/// Adds the options given to a TensorRT runner: a key is the option's dest, a value the words of
/// one occurrence, a line each; "profile" entries hold the optimization profiles with all gaps
/// filled as the peer fills them. With a Python function that changes the network or its
/// configuration, the runner's place is kPython. kInvalidArgument for shapes that cannot be read
/// and for combinations that the peer refuses.
Status BindTensorRt(const ParsedArgs& args, RunnerPlan& runner, Logger& logger);

}  // namespace vernier
