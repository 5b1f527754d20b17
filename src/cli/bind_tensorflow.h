// The options of TensorFlow runners, as the plug-in and the Python part understand them.
#pragma once

#include <string_view>

#include "cli/arg_parser.h"
#include "model/model_type.h"
#include "util/log.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Is this the dest of an option that only TensorFlow runners look at?
bool IsTensorFlowDest(std::string_view dest);

/// Adds the options given to a TensorFlow runner; to any other, those of converting its model.
/// kInvalidArgument for an --opset below 1.
Status BindTensorFlow(const ParsedArgs& args, RunnerPlan& runner);

/// The options of converting a TensorFlow model: --opset, --ckpt, --tf-signature and
/// --tf-outputs. kInvalidArgument for an --opset below 1.
Status BindTensorFlowConversion(const ParsedArgs& args, RunnerPlan& runner);

/// Options about TensorFlow's models where no runner of the plan has one, or none that is
/// converted: a warning for Polygraphy's, kInvalidArgument for --tf-signature. Nothing where the
/// run is lenient, or has a script that may use them.
Status CheckTensorFlowUse(const ParsedArgs& args, const RunPlan& plan, Logger& logger);

}  // namespace vernier
